"""Microaggregation of records and of sets, and the truthful generalization of sets beside it."""

from keepsense.methods.aggregate.adaptive import adaptive_microaggregation
from keepsense.methods.aggregate.apriori import apriori_sets, generalize_sets_apriori
from keepsense.methods.aggregate.closeness import t_close_microaggregation
from keepsense.methods.aggregate.compare import SetComparison, categories, compare_sets
from keepsense.methods.aggregate.concepts import ConceptSets, map_sets
from keepsense.methods.aggregate.disassociation import disassociation, semantic_disassociation
from keepsense.methods.aggregate.item_distances import ItemDistances
from keepsense.methods.aggregate.item_tree import GeneralizedSets, ItemTree
from keepsense.methods.aggregate.items import ItemSets, from_delimited, from_lists, from_long
from keepsense.methods.aggregate.mdav import Partition, Space, mdav
from keepsense.methods.aggregate.orders import individual_ranking, microaggregation_along_a_score
from keepsense.methods.aggregate.phrases import Chunker, noun_phrases
from keepsense.methods.aggregate.record_space import RecordSpace
from keepsense.methods.aggregate.records import microaggregation_of_records
from keepsense.methods.aggregate.set_distance import KINDS, SetSpace, set_distance
from keepsense.methods.aggregate.set_files import read_baskets, read_sets, write_baskets
from keepsense.methods.aggregate.sets import SetRelease, microaggregate_sets, set_microaggregation
from keepsense.methods.aggregate.taggers import phrases_by_hanta, phrases_by_spacy
from keepsense.methods.aggregate.topdown import generalize_sets_top_down, top_down_sets
from keepsense.methods.aggregate.univariate import optimal_univariate_microaggregation

__all__ = [
    "KINDS", "Chunker", "ConceptSets", "GeneralizedSets", "ItemDistances", "ItemSets", "ItemTree", "Partition",
    "RecordSpace", "SetComparison", "SetRelease", "SetSpace", "Space", "adaptive_microaggregation", "apriori_sets",
    "categories", "compare_sets", "disassociation", "from_delimited", "from_lists", "from_long",
    "generalize_sets_apriori", "generalize_sets_top_down", "individual_ranking", "map_sets", "mdav",
    "microaggregate_sets", "microaggregation_along_a_score", "microaggregation_of_records", "noun_phrases",
    "optimal_univariate_microaggregation", "phrases_by_hanta", "phrases_by_spacy", "read_baskets", "read_sets",
    "semantic_disassociation", "set_distance", "set_microaggregation", "t_close_microaggregation", "top_down_sets",
    "write_baskets",
]  # fmt: skip
