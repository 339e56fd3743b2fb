"""Words that several methods of one family share where they are described."""

from __future__ import annotations

from keepsense.methods.flowchart import Filling

EXTREME = Filling("extremes", "the record farthest from the one before, beginning at the edge")
ONE = Filling("one draw", "Let it change places with one of them that is not yet swapped, drawn at random")
SWAP_INPUTS = (
    "the columns to protect",
    "a taxonomy for columns of words",
    "k, how many near records may change places",
)
NOT_PROMISED = "None beforehand; risk is measured afterwards. For a promise use strict rank swapping."

ALONE = Filling("variance", "how much each column varies, for words in meaning")
REFERENCE = Filling("mean", "the column's mean (or its partner's value, or the root: your choice)")
NOISE_INPUTS = ("the columns to protect", "a taxonomy for columns of words", "alpha, usually 0.1 to 0.5")
NO_PROMISE = "None beforehand: the noise is masking, not differential privacy. Risk is measured afterwards."
