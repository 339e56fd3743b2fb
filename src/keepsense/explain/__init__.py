"""How it works: lessons made of what the methods tell while they run."""
