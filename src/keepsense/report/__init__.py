"""Reports of a release, each in one offline HTML file: for colleagues, and for the public."""
