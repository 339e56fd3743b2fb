"""What can be promised: a model a file, with what several of them share."""
