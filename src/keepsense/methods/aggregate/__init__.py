"""Microaggregation of records and of sets, and the truthful generalization of sets beside it."""

from keepsense.methods.aggregate.adaptive import microaggregate_adaptive
from keepsense.methods.aggregate.apriori import generalize_apriori
from keepsense.methods.aggregate.closeness import microaggregate_close
from keepsense.methods.aggregate.compare import SetComparison, categories, compare_sets
from keepsense.methods.aggregate.concepts import ConceptSets, map_sets
from keepsense.methods.aggregate.item_distances import ItemDistances
from keepsense.methods.aggregate.item_tree import GeneralizedSets, ItemTree
from keepsense.methods.aggregate.items import ItemSets, from_delimited, from_lists, from_long
from keepsense.methods.aggregate.mdav import Partition, Space, mdav
from keepsense.methods.aggregate.orders import individual_ranking, microaggregate_along
from keepsense.methods.aggregate.phrases import Chunker, noun_phrases
from keepsense.methods.aggregate.record_space import RecordSpace
from keepsense.methods.aggregate.records import microaggregate
from keepsense.methods.aggregate.set_distance import KINDS, SetSpace, set_distance
from keepsense.methods.aggregate.set_files import read_baskets, read_sets, write_baskets
from keepsense.methods.aggregate.sets import SetRelease, microaggregate_sets
from keepsense.methods.aggregate.taggers import phrases_by_hanta, phrases_by_spacy
from keepsense.methods.aggregate.topdown import generalize_topdown

__all__ = [
    "KINDS",
    "Chunker",
    "ConceptSets",
    "GeneralizedSets",
    "ItemDistances",
    "ItemSets",
    "ItemTree",
    "Partition",
    "RecordSpace",
    "SetComparison",
    "SetRelease",
    "SetSpace",
    "Space",
    "categories",
    "compare_sets",
    "from_delimited",
    "from_lists",
    "from_long",
    "generalize_apriori",
    "generalize_topdown",
    "individual_ranking",
    "map_sets",
    "mdav",
    "microaggregate",
    "microaggregate_adaptive",
    "microaggregate_along",
    "microaggregate_close",
    "microaggregate_sets",
    "noun_phrases",
    "phrases_by_hanta",
    "phrases_by_spacy",
    "read_baskets",
    "read_sets",
    "set_distance",
    "write_baskets",
]
