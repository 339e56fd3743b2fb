"""What the command line does, one small file a command; each parses, calls the library and shows what came back."""
