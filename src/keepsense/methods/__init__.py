"""Methods: what a method is, what it gets and how it is called; the families are folders of this one."""
