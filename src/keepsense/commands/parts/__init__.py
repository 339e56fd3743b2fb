"""What several commands share: options, output, progress, completion, and the views of the guide."""
