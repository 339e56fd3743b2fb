"""What the words of a column mean: text looked up in a taxonomy, senses chosen, the result to look at and to edit."""

from keepsense.lazy import attach

__getattr__, __all__ = attach(__name__)
