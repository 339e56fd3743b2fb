"""How far apart things are: distances, and the operators built on them: mean, variance, dependence, order."""

from keepsense.lazy import attach

__getattr__, __all__ = attach(__name__)
