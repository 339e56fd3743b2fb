"""What is promised: privacy models, the independent verifier, disclosure risk."""

from keepsense.privacy.base import (
    Decision,
    Model,
    bind,
    decide,
    monotonic,
    needed_columns,
    suppression_limit,
    validate,
)
from keepsense.privacy.checks.outcome import Check, Verification
from keepsense.privacy.closeness import TCloseness
from keepsense.privacy.diversity import DistinctDiversity, EntropyDiversity, LDiversity, RecursiveDiversity
from keepsense.privacy.ground import Equal, Ground, Links, Ordered, Semantic, Tree
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity, XYAnonymity
from keepsense.privacy.km import KmAnonymity
from keepsense.privacy.linkage import Linkage, record_linkage
from keepsense.privacy.matching import class_sizes, classes, sizes_in
from keepsense.privacy.mechanisms import DifferentialPrivacy, LinkageRisk
from keepsense.privacy.presence import DeltaPresence, KMap, with_population
from keepsense.privacy.registry import PRIVACY, PrivacyModel, model, models
from keepsense.privacy.risk import Risk, estimate_population_uniques, risk
from keepsense.privacy.set_verifier import verify_sets
from keepsense.privacy.thresholds import AverageRisk, MaximumRisk
from keepsense.privacy.verifier import verify

__all__ = [
    "PRIVACY",
    "AverageRisk",
    "Check",
    "Decision",
    "DeltaPresence",
    "DifferentialPrivacy",
    "DistinctDiversity",
    "EntropyDiversity",
    "Equal",
    "Ground",
    "KAnonymity",
    "KMap",
    "KmAnonymity",
    "LDiversity",
    "Linkage",
    "LinkageRisk",
    "Links",
    "MaximumRisk",
    "Model",
    "Ordered",
    "PrivacyModel",
    "ProbabilisticKAnonymity",
    "RecursiveDiversity",
    "Risk",
    "Semantic",
    "TCloseness",
    "Tree",
    "Verification",
    "XYAnonymity",
    "bind",
    "class_sizes",
    "classes",
    "decide",
    "estimate_population_uniques",
    "model",
    "models",
    "monotonic",
    "needed_columns",
    "record_linkage",
    "risk",
    "sizes_in",
    "suppression_limit",
    "validate",
    "verify",
    "verify_sets",
    "with_population",
]
