"""How values generalize: hierarchies, their construction, scoring and choice."""

from keepsense.hierarchies.core import Hierarchy

__all__ = ["Hierarchy"]
