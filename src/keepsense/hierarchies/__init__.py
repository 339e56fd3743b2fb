"""How values generalize: hierarchies, their construction, scoring and choice.

- the hierarchy itself: `Hierarchy`, `check`, `signature`;
- files: `read_arx`, `read_xml`, `read_json`, `read_tree` and the matching `write_...`;
- editing: `Editor` and the operations of `keepsense.hierarchies.edit`;
- construction: `base_hierarchy`, the four adjustments, `candidates`, `hierarchies_for` a whole table; hierarchies of
  numbers, dates, masked strings and ordered values;
- judgement: `score` (GSL), `explain`, `improve`, `evaluate` (four aspects), `choose` (before anonymizing or by trying).
"""

from keepsense.hierarchies.adjust import reduce_abstractness, reduce_outliers, remove_levels
from keepsense.hierarchies.aika_xml import read_xml, write_xml
from keepsense.hierarchies.arx import read_arx, write_arx
from keepsense.hierarchies.base import base_hierarchy
from keepsense.hierarchies.choice import Choice, Steps, Times, a_posteriori, a_priori, choose
from keepsense.hierarchies.concepts import senses_of, with_concepts
from keepsense.hierarchies.construct import candidates
from keepsense.hierarchies.core import Hierarchy, MissingValues, signature
from keepsense.hierarchies.edit import Editor
from keepsense.hierarchies.evaluation import Evaluation, evaluate, weight_sets
from keepsense.hierarchies.explanation import Explanation, explain
from keepsense.hierarchies.facets import diversify
from keepsense.hierarchies.gsl import Gsl, grade, score, scores, set_score
from keepsense.hierarchies.improvement import Improvement, improve
from keepsense.hierarchies.json_io import read_json, write_json
from keepsense.hierarchies.kinds import dates, masked, ordered
from keepsense.hierarchies.numeric import agglomerative, equal_frequency, equal_width, numeric_candidates
from keepsense.hierarchies.perturb import make_test_bed
from keepsense.hierarchies.table import TableHierarchies, hierarchies_for
from keepsense.hierarchies.tree_text import format_tree, parse_tree, read_tree, write_tree
from keepsense.hierarchies.validate import check

__all__ = [
    "Choice",
    "Editor",
    "Evaluation",
    "Explanation",
    "Gsl",
    "Hierarchy",
    "Improvement",
    "MissingValues",
    "Steps",
    "TableHierarchies",
    "Times",
    "a_posteriori",
    "a_priori",
    "agglomerative",
    "base_hierarchy",
    "candidates",
    "check",
    "choose",
    "dates",
    "diversify",
    "equal_frequency",
    "equal_width",
    "evaluate",
    "explain",
    "format_tree",
    "grade",
    "hierarchies_for",
    "improve",
    "make_test_bed",
    "masked",
    "numeric_candidates",
    "ordered",
    "parse_tree",
    "read_arx",
    "read_json",
    "read_tree",
    "read_xml",
    "reduce_abstractness",
    "reduce_outliers",
    "remove_levels",
    "score",
    "scores",
    "senses_of",
    "set_score",
    "signature",
    "weight_sets",
    "with_concepts",
    "write_arx",
    "write_json",
    "write_tree",
    "write_xml",
]
