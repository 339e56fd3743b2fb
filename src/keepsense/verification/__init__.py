"""The verifier's own reading of each promise: SQL over a connection, nothing shared with models, methods or engines.

A check is a function of `Classes` (or of `Sets`), the promise as plain data and the evidence by column; it gives a
`Check`. The entry of a privacy model says where its check lives. The SQL is what DuckDB and Spark share.
"""
