"""Privacy models (promises): what is promised about a release, one module a family."""
