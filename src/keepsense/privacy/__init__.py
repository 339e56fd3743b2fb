"""What is promised: privacy models, the independent verifier, disclosure risk."""

from keepsense.lazy import attach

__getattr__, __all__ = attach(__name__)
