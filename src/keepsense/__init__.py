"""Keepsense anonymizes tables whose columns hold words, and keeps what the words mean.

The package imports nothing heavy: every public name is loaded when it is first used.

>>> import keepsense
>>> words = keepsense.wordnet()
>>> meaning = keepsense.distance("wu-palmer", words)
>>> meaning.pair("nurse", "surgeon") < meaning.pair("nurse", "bread")
True
"""

from keepsense.lazy import attach

__version__ = "0.1.0"

__getattr__, __all__ = attach(__name__)
