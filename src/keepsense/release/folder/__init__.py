"""The folder of a release: the data, its description and dictionary, the private recoding, the ledger."""
