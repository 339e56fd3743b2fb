"""What was lost: metrics of information loss, of meaning lost, and of tasks done with the released table.

Functions take the `Counts` of the original table and a recoding (`Cuts` or `Cells`); what they need besides is said in
each. Suppressed records lose 1 in every column, cost a whole table each for the discernibility, and are one class for
the average class size.
"""

from keepsense.utility.classes import (
    Classes,
    average_class_size,
    class_size_of,
    discernibility,
    discernibility_of,
    released_classes,
)
from keepsense.utility.clustering import (
    ClusterComparison,
    Dendrogram,
    compare_clusters,
    contingency,
    normalised_mutual_information,
    rand_index,
    record_distances,
    ward,
)
from keepsense.utility.entropy import kl_divergence, non_uniform_entropy
from keepsense.utility.learning import Accuracy, classification_accuracy
from keepsense.utility.levels import level_losses
from keepsense.utility.loss import column_losses, gen_iloss, height, loss, ncp, precision
from keepsense.utility.meaning import leaf_distances, value_concepts, value_distances
from keepsense.utility.query import Query, QueryError, query_error, random_queries
from keepsense.utility.recoded import Recoded
from keepsense.utility.scales import Scale
from keepsense.utility.semantic import root_mean_square_error, semantic_loss, semantic_sse
from keepsense.utility.sets import (
    FrequencyError,
    KnownItems,
    SetLoss,
    average_distances,
    item_error,
    known_items_risk,
    pair_error,
    profile_accuracy,
    set_loss,
)

__all__ = [
    "Accuracy",
    "Classes",
    "ClusterComparison",
    "Dendrogram",
    "FrequencyError",
    "KnownItems",
    "Query",
    "QueryError",
    "Recoded",
    "Scale",
    "SetLoss",
    "average_class_size",
    "average_distances",
    "class_size_of",
    "classification_accuracy",
    "column_losses",
    "compare_clusters",
    "contingency",
    "discernibility",
    "discernibility_of",
    "gen_iloss",
    "height",
    "item_error",
    "kl_divergence",
    "known_items_risk",
    "leaf_distances",
    "level_losses",
    "loss",
    "ncp",
    "non_uniform_entropy",
    "normalised_mutual_information",
    "pair_error",
    "precision",
    "profile_accuracy",
    "query_error",
    "rand_index",
    "random_queries",
    "record_distances",
    "released_classes",
    "root_mean_square_error",
    "semantic_loss",
    "semantic_sse",
    "set_loss",
    "value_concepts",
    "value_distances",
    "ward",
]
