"""What people see: the report of a release, in one offline HTML file, for colleagues or for the public."""
