"""The commands of the terminal: one module each, with its entry in `COMMANDS`."""
