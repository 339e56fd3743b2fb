"""Generalization: three recoding templates, one small file per algorithm on top, and a registry that finds them.

Algorithms are imported when they are first asked for, so that listing them costs nothing.

>>> [one.name for one in algorithms("LR")]
['samarati', 'incognito', 'optimal', 'semantic-incognito', 'anytime']
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from keepsense.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

Category = Literal["TR", "LR", "MR", "local"]
"""Template (Ben Fredj et al. 2015): table, lattice or multidimensional recoding; `local` goes on from any of them."""

Recodes = Literal["full-domain", "sub-tree", "multidimensional", "cells"]
"""What one value becomes: the same level in a whole column, one node of a cut, or something else in every class."""


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: how it is called, what it needs and what it is for.

    `needs` lists keyword arguments that must be given besides counts, hierarchies and a promise (`k` or `models`);
    `takes` those that may be. `function` imports the algorithm.

    >>> algorithm("datafly").title, algorithm("datafly").category
    ('Datafly', 'TR')
    """

    name: str
    title: str
    category: Category
    recodes: Recodes
    source: str
    purpose: str
    where: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    hierarchies: bool = True

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself: takes counts, hierarchies and `models`, returns a recoding."""
        module, name = self.where.split(":")
        found: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), name)
        return found


_GENERAL = "general purposes"
_CLASSIFY = "classification"
_TABLE = (
    Algorithm("datafly", "Datafly", "TR", "full-domain", "Sweeney 2002", _GENERAL, "datafly:datafly",
              takes=("suppression",)),
    Algorithm("semantic-datafly", "Semantic Datafly", "TR", "full-domain", "Ayala-Rivera et al. 2017",
              "keeping the meaning of words", "semantic_datafly:semantic_datafly", needs=("distances",),
              takes=("suppression", "anonymity")),
    Algorithm("mu-argus", "mu-Argus", "TR", "full-domain", "Hundepool and Willenborg 1996",
              "survey data that go to known recipients", "mu_argus:mu_argus", takes=("suppression", "sizes", "strict")),
    Algorithm("bottom-up", "Bottom-Up Generalization", "TR", "sub-tree", "Wang et al. 2004", _CLASSIFY,
              "bottom_up:bottom_up", takes=("target", "measure", "anonymity", "suppression")),
    Algorithm("top-down", "Top-Down Specialization", "TR", "sub-tree", "Fung et al. 2005", _CLASSIFY,
              "top_down:top_down", takes=("target", "measure", "anonymity", "beneficial", "suppression")),
)  # fmt: skip
_LATTICE = (
    Algorithm("samarati", "Samarati's binary search", "LR", "full-domain", "Samarati 2001", _GENERAL,
              "samarati:samarati", takes=("measure", "suppression")),
    Algorithm("incognito", "Incognito", "LR", "full-domain", "LeFevre et al. 2005", _GENERAL, "incognito:incognito",
              takes=("measure", "suppression")),
    Algorithm("optimal", "Optimal search", "LR", "full-domain", "Kohlmayer et al. 2012", _GENERAL, "optimal:optimal",
              takes=("measure", "suppression", "classify", "time_limit")),
    Algorithm("semantic-incognito", "Semantic Incognito", "LR", "full-domain", "Ayala-Rivera et al. 2017",
              "keeping the meaning of words", "semantic_incognito:semantic_incognito", needs=("distances",),
              takes=("squared", "suppression")),
    Algorithm("anytime", "Anytime search", "LR", "full-domain", "bounds from groups of columns", "very many columns",
              "anytime:anytime", takes=("measure", "suppression", "time_limit", "rng")),
)  # fmt: skip
_SPACE = (
    Algorithm("mondrian", "Median Mondrian", "MR", "multidimensional", "LeFevre et al. 2006", _GENERAL,
              "mondrian:mondrian", takes=("numbers", "taxonomies", "order", "relaxed"), hierarchies=False),
    Algorithm("infogain-mondrian", "InfoGain Mondrian", "MR", "multidimensional", "LeFevre et al. 2006", _CLASSIFY,
              "infogain_mondrian:infogain_mondrian", needs=("target",), takes=("numbers",), hierarchies=False),
    Algorithm("lsd-mondrian", "LSD Mondrian", "MR", "multidimensional", "LeFevre et al. 2006", "regression",
              "lsd_mondrian:lsd_mondrian", needs=("target",), takes=("numbers",), hierarchies=False),
    Algorithm("semantic-mondrian", "Semantic Mondrian", "MR", "multidimensional", "LeFevre et al. 2006",
              "keeping the meaning of words", "semantic_mondrian:semantic_mondrian", takes=("distances", "numbers")),
)  # fmt: skip
_LOCAL = (
    Algorithm("local", "Local recoding", "local", "cells", "Prasser et al. 2014", _GENERAL, "local:local_recoding",
              takes=("measure", "suppression", "start", "most_nodes", "seconds")),
    Algorithm("cell-greedy", "Greedy cell recoding", "local", "cells", "Byun et al. 2007", _GENERAL,
              "cell_greedy:cell_greedy", takes=("measure", "start", "block", "rounds")),
    Algorithm("local-suppression", "Local suppression", "local", "cells", "Rodríguez-García 2017, Sec. 2.3.1",
              "columns without hierarchies", "local_suppression:local_suppression", takes=("importance",),
              hierarchies=False),
)  # fmt: skip
_EVERY = {one.name: one for one in (*_TABLE, *_LATTICE, *_SPACE, *_LOCAL)}


def algorithms(category: Category | None = None) -> tuple[Algorithm, ...]:
    """All algorithms, or those of one category, in the order of their templates.

    >>> [one.title for one in algorithms("MR")][0]
    'Median Mondrian'
    """
    return tuple(one for one in _EVERY.values() if category in (None, one.category))


def algorithm(name: str) -> Algorithm:
    """The algorithm of a name; refuses, with a hint, a name that does not exist.

    >>> algorithm("datafli")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: no generalization algorithm 'datafli'. Did you mean datafly?
    """
    found = _EVERY.get(name)
    if found is None:
        raise BadInput(f"no generalization algorithm {name!r}.{did_you_mean(name, _EVERY)}")
    return found
