"""The job of a release: what a project reads, its persons, its steps, and the recoded rows."""
