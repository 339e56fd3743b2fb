"""How far apart things are: distances, and the operators built on them: mean, variance, dependence, order."""

from keepsense.semantics.attribute import Nominal, Ordered, nominal
from keepsense.semantics.base import DISTANCES, Distance, distance
from keepsense.semantics.content import JiangConrath, Lin, Resnik
from keepsense.semantics.dependence import (
    Dependence,
    covariance_matrix,
    dependence,
    distance_correlation,
    distance_variance,
)
from keepsense.semantics.edges import LeacockChodorow, Path, WuPalmer
from keepsense.semantics.features import Feature, LogFeature, RodriguezEgenhofer, Tversky
from keepsense.semantics.information import corpus, information_content, sanchez, seco, zhou
from keepsense.semantics.mean import Mean, semantic_mean
from keepsense.semantics.order import (
    closeness_ranks,
    most_distant_from,
    most_distant_tuple,
    most_distant_value,
    tuple_distances,
)
from keepsense.semantics.variance import rmse, semantic_variance

__all__ = [
    "DISTANCES",
    "Dependence",
    "Distance",
    "Feature",
    "JiangConrath",
    "LeacockChodorow",
    "Lin",
    "LogFeature",
    "Mean",
    "Nominal",
    "Ordered",
    "Path",
    "Resnik",
    "RodriguezEgenhofer",
    "Tversky",
    "WuPalmer",
    "closeness_ranks",
    "corpus",
    "covariance_matrix",
    "dependence",
    "distance",
    "distance_correlation",
    "distance_variance",
    "information_content",
    "most_distant_from",
    "most_distant_tuple",
    "most_distant_value",
    "nominal",
    "rmse",
    "sanchez",
    "seco",
    "semantic_mean",
    "semantic_variance",
    "tuple_distances",
    "zhou",
]
