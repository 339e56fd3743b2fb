"""What was lost: information-loss and task measures."""
