"""The verifier: it reads a released file as a recipient does, and computes every promise again in SQL.

It shares nothing with models, methods or engines. A check is a function of `Classes` (or of `Sets`), the promise as
plain data and the evidence by column; it returns a `Check`. The entry of a privacy model says where its check lives.
The SQL is what DuckDB and Spark share.
"""
