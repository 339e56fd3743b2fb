"""What can be typed: one module a command, thin, with its entry in `COMMANDS`."""
