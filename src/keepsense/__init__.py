"""Keepsense anonymizes tables whose columns hold words, and keeps what the words mean.

The package imports nothing heavy: every public name is loaded when it is first used, and `__init__.pyi` says where
each lives. The front door is `anonymize`.

>>> import keepsense as ks
>>> release = ks.anonymize({"age": [31, 34, 38, 52, 55, 58] * 5}, k=10, quasi_identifiers=["age"])
>>> sorted(set(release.frame["age"]))
['50 or more', 'under 40']
"""

from keepsense.lazy import attach

__version__ = "0.1.0"

__getattr__, _NAMES = attach(__name__)
__all__ = ["__version__", *_NAMES]


def __dir__() -> list[str]:
    return sorted(__all__)
