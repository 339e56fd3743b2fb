"""Next month's table by the rules of an earlier release."""
