"""One folder per paper: the script that reproduces its tables, and what came out.

An experiment is a package `experiments/NAME` whose module `run` has a function `run(results)`; it writes CSV files,
plots and a short README with the paper's figures beside ours into that folder, `experiments/NAME/results`.
"""
