"""How far apart things are: distances, and the operators built on them."""

from keepsense.semantics.base import Distance, distance, measures
from keepsense.semantics.content import JiangConrath, Lin, Resnik
from keepsense.semantics.edges import LeacockChodorow, Path, WuPalmer
from keepsense.semantics.features import Feature, LogFeature, RodriguezEgenhofer, Tversky
from keepsense.semantics.information import corpus, information_content, sanchez, seco, zhou

__all__ = [
    "Distance",
    "Feature",
    "JiangConrath",
    "LeacockChodorow",
    "Lin",
    "LogFeature",
    "Path",
    "Resnik",
    "RodriguezEgenhofer",
    "Tversky",
    "WuPalmer",
    "corpus",
    "distance",
    "information_content",
    "measures",
    "sanchez",
    "seco",
    "zhou",
]
