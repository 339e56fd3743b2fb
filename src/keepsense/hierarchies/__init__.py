"""How values generalize: hierarchies, their construction, scoring and choice.

- the hierarchy itself: `Hierarchy`, `check`, `signature`;
- files: `read_arx`, `read_xml`, `read_json`, `read_tree` and the matching `write_...`;
- editing: `Editor` and the operations of `keepsense.hierarchies.edit`;
- construction: `base_hierarchy`, the four adjustments, `candidates`, `hierarchies_for` a whole table; hierarchies of
  numbers, dates, masked strings and ordered values;
- judgement: `score` (GSL), `explain`, `improve`, `evaluate` (four aspects), `choose` (before anonymizing or by trying).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepsense.hierarchies.adjust import reduce_abstractness as reduce_abstractness
    from keepsense.hierarchies.adjust import reduce_outliers as reduce_outliers
    from keepsense.hierarchies.adjust import remove_levels as remove_levels
    from keepsense.hierarchies.base import base_hierarchy as base_hierarchy
    from keepsense.hierarchies.choice import Choice as Choice
    from keepsense.hierarchies.choice import Steps as Steps
    from keepsense.hierarchies.choice import Times as Times
    from keepsense.hierarchies.choice import a_posteriori as a_posteriori
    from keepsense.hierarchies.choice import a_priori as a_priori
    from keepsense.hierarchies.choice import choose as choose
    from keepsense.hierarchies.concepts import senses_of as senses_of
    from keepsense.hierarchies.concepts import with_concepts as with_concepts
    from keepsense.hierarchies.construct import candidates as candidates
    from keepsense.hierarchies.core import Hierarchy as Hierarchy
    from keepsense.hierarchies.core import MissingValues as MissingValues
    from keepsense.hierarchies.core import signature as signature
    from keepsense.hierarchies.edit import Editor as Editor
    from keepsense.hierarchies.evaluation import Evaluation as Evaluation
    from keepsense.hierarchies.evaluation import evaluate as evaluate
    from keepsense.hierarchies.evaluation import weight_sets as weight_sets
    from keepsense.hierarchies.explanation import Explanation as Explanation
    from keepsense.hierarchies.explanation import explain as explain
    from keepsense.hierarchies.facets import diversify as diversify
    from keepsense.hierarchies.formats.aika_xml import read_xml as read_xml
    from keepsense.hierarchies.formats.aika_xml import write_xml as write_xml
    from keepsense.hierarchies.formats.arx import read_arx as read_arx
    from keepsense.hierarchies.formats.arx import write_arx as write_arx
    from keepsense.hierarchies.formats.json_file import read_json as read_json
    from keepsense.hierarchies.formats.json_file import write_json as write_json
    from keepsense.hierarchies.formats.tree_text import format_tree as format_tree
    from keepsense.hierarchies.formats.tree_text import parse_tree as parse_tree
    from keepsense.hierarchies.formats.tree_text import read_tree as read_tree
    from keepsense.hierarchies.formats.tree_text import write_tree as write_tree
    from keepsense.hierarchies.gsl import Gsl as Gsl
    from keepsense.hierarchies.gsl import grade as grade
    from keepsense.hierarchies.gsl import score as score
    from keepsense.hierarchies.gsl import scores as scores
    from keepsense.hierarchies.gsl import set_score as set_score
    from keepsense.hierarchies.improvement import Improvement as Improvement
    from keepsense.hierarchies.improvement import improve as improve
    from keepsense.hierarchies.kinds import dates as dates
    from keepsense.hierarchies.kinds import masked as masked
    from keepsense.hierarchies.kinds import ordered as ordered
    from keepsense.hierarchies.numeric import agglomerative as agglomerative
    from keepsense.hierarchies.numeric import equal_frequency as equal_frequency
    from keepsense.hierarchies.numeric import equal_width as equal_width
    from keepsense.hierarchies.numeric import numeric_candidates as numeric_candidates
    from keepsense.hierarchies.perturb import make_test_bed as make_test_bed
    from keepsense.hierarchies.table import TableHierarchies as TableHierarchies
    from keepsense.hierarchies.table import hierarchies_for as hierarchies_for
    from keepsense.hierarchies.validate import check as check

# where each public name lives: imported when it is first asked for, because a run needs few of them
_PUBLIC = {
    "Choice": "choice",
    "Editor": "edit",
    "Evaluation": "evaluation",
    "Explanation": "explanation",
    "Gsl": "gsl",
    "Hierarchy": "core",
    "Improvement": "improvement",
    "MissingValues": "core",
    "Steps": "choice",
    "TableHierarchies": "table",
    "Times": "choice",
    "a_posteriori": "choice",
    "a_priori": "choice",
    "agglomerative": "numeric",
    "base_hierarchy": "base",
    "candidates": "construct",
    "check": "validate",
    "choose": "choice",
    "dates": "kinds",
    "diversify": "facets",
    "equal_frequency": "numeric",
    "equal_width": "numeric",
    "evaluate": "evaluation",
    "explain": "explanation",
    "format_tree": "formats.tree_text",
    "grade": "gsl",
    "hierarchies_for": "table",
    "improve": "improvement",
    "make_test_bed": "perturb",
    "masked": "kinds",
    "numeric_candidates": "numeric",
    "ordered": "kinds",
    "parse_tree": "formats.tree_text",
    "read_arx": "formats.arx",
    "read_json": "formats.json_file",
    "read_tree": "formats.tree_text",
    "read_xml": "formats.aika_xml",
    "reduce_abstractness": "adjust",
    "reduce_outliers": "adjust",
    "remove_levels": "adjust",
    "score": "gsl",
    "scores": "gsl",
    "senses_of": "concepts",
    "set_score": "gsl",
    "signature": "core",
    "weight_sets": "evaluation",
    "with_concepts": "concepts",
    "write_arx": "formats.arx",
    "write_json": "formats.json_file",
    "write_tree": "formats.tree_text",
    "write_xml": "formats.aika_xml",
}
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


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"keepsense.hierarchies.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'keepsense.hierarchies' has no attribute {name!r}")
