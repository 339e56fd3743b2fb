"""What lies in a release folder and beside it: the description, the dictionary, the recoding, the ledger."""
