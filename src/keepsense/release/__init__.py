"""How a table becomes a verified release: the job, the one code path that runs it, its place, its ledger."""
