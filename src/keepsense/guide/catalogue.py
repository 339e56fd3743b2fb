"""The catalogue: every method and its family, by name, with flowcharts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from keepsense.errors import BadInput, did_you_mean
from keepsense.methods.method import METHODS, Described, Method, Relation, method
from keepsense.methods.method_flowchart import Edge, Flowchart, Node, loop
from keepsense.methods.perturb.clusters import SWAP_INPUTS
from keepsense.methods.perturb.noise_on_words import NO_PROMISE, NOISE_INPUTS
from keepsense.privacy.dp_promises import DifferentialPrivacy
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.privacy.t_closeness import TCloseness
from keepsense.registry import plain

# Families, and the three templates of generalization (Ben Fredj, Lammari and Comyn-Wattiau 2015)
#
# A method fills in what the flowchart of its template leaves open.


@dataclass(frozen=True, eq=False, kw_only=True)
class Family(Described):
    """What several methods have in common, or what is only described.

    >>> FAMILIES["lattice recoding"].family
    'generalization'
    """


_PAPER = "Ben Fredj, Lammari and Comyn-Wattiau 2015"
_THESIS = "Rodríguez-García 2017"
_TABLE = "The table, the columns by which people could be recognized, a hierarchy for each, and the promise"
_GENERAL = loop(
    _TABLE,
    "Is the search finished?",
    prepare="Set up what can be changed",
    candidates="Find the changes that are possible next",
    choose="Judge them, and choose",
    apply="Make the change, or note what it showed",
    settle="Recode the table with what was found; suppress what still breaks the promise, if that is allowed",
)
_STEPWISE = loop(
    _TABLE,
    "{stop}",
    prepare="Begin with {direction}",
    candidates="List the steps that can be made: {candidates}",
    choose="Score each step by {metric}, and take the best",
    apply="Make that step, and group the records again",
    settle="{suppression}",
)
_LATTICE = loop(
    _TABLE,
    "{stop}",
    prepare="Lay out the choices of one level for each column: {lattice}",
    candidates="Take the next choice: {order}",
    choose=(
        "Group the records at these levels: do all groups keep the promise, but for records that may be suppressed?"
    ),
    apply="Note what follows for other choices: {tagging}",
    settle="Release the table at the levels of {metric}; suppress the few records that still stand alone",
)
_DIVISION = loop(
    _TABLE,
    "Is there no group left that can be cut?",
    prepare="Put all records into one group",
    candidates="Take a group and the column to cut it in: {order}",
    choose="Find the place to cut at: {score}{branches}",
    apply="Cut it in two if both parts keep the promise ({relaxed}); if there is no such cut{gain}, close the group",
    settle="Release each group as what it spans: numbers as a range, words as their nearest common ancestor",
)
_SWAPPING = Flowchart(
    (
        Node("begin", "The table, the columns to protect, and k", "start"),
        Node("order", "Say what is near: words by their meaning, numbers by their rank"),
        Node("finished", "Is every record swapped?", "question"),
        Node("take", "Take {reference}"),
        Node("gather", "Gather {cluster}"),
        Node("swap", "{exchange}"),
        Node("end", "The same values, at other records", "end"),
    ),
    (
        Edge("begin", "order"),
        Edge("order", "finished"),
        Edge("finished", "take", "no"),
        Edge("take", "gather"),
        Edge("gather", "swap"),
        Edge("swap", "finished"),
        Edge("finished", "end", "yes"),
    ),
)
_NOISE = Flowchart(
    (
        Node("begin", "The table, the columns to protect, and alpha: how much noise", "start"),
        Node("measure", "Measure {variation}"),
        Node("draw", "Draw for every cell an error whose spread is alpha times that"),
        Node("side", "Let its sign say on which side: nearer to or farther from {reference}"),
        Node("move", "Replace the value by the nearest one that is at least as far away as the error, on that side"),
        Node("end", "Values near the original ones", "end"),
    ),
    (
        Edge("begin", "measure"),
        Edge("measure", "draw"),
        Edge("draw", "side"),
        Edge("side", "move"),
        Edge("move", "end"),
    ),
)
_GROUPING = Flowchart(
    (
        Node("begin", "The records and k", "start"),
        Node("measure", "Say how far apart two records are: {distance}"),
        Node("finished", "Are fewer than 2k records in no group?", "question"),
        Node("centre", "Find the centre of those in no group, and the record farthest from it"),
        Node("group", "Group that record with its k - 1 nearest; likewise the record farthest from it"),
        Node("rest", "Make those left over one group, or let them join their nearest one"),
        Node("replace", "Release for every member of a group {representative}"),
        Node("end", "Records, at least k of each alike", "end"),
    ),
    (
        Edge("begin", "measure"),
        Edge("measure", "finished"),
        Edge("finished", "centre", "no"),
        Edge("centre", "group"),
        Edge("group", "finished"),
        Edge("finished", "rest", "yes"),
        Edge("rest", "replace"),
        Edge("replace", "end"),
    ),
)
_SETS = Flowchart(
    (
        Node("begin", "Sets of items, a hierarchy of the items, k and m: how many items an attacker may know", "start"),
        Node("size", "{start}"),
        Node("finished", "{stop}", "question"),
        Node("find", "{candidates}"),
        Node("change", "{change}"),
        Node("end", "True sets, less detailed", "end"),
    ),
    (
        Edge("begin", "size"),
        Edge("size", "finished"),
        Edge("finished", "find", "no"),
        Edge("find", "change"),
        Edge("change", "finished"),
        Edge("finished", "end", "yes"),
    ),
)
_INPUTS = (
    "the table",
    "which columns could tell who somebody is",
    "a hierarchy for each of these columns (Keepsense builds one from a taxonomy)",
    "the promise, for instance k-anonymity with k = 5",
)
_MIXED = Relation("local suppression", "a few odd records are suppressed so that all others keep more detail")

_EVERY = (
    Family(
        name="generalization",
        title="Generalization",
        place=1,
        short="replace values by more general ones",
        intent="Replace values by more general ones, so that several people look alike and nobody can be singled out.",
        use=(
            "every released value must be true, only less detailed",
            "you promise k-anonymity, with or without l-diversity or t-closeness",
            "readers, not only computers, will look at the table",
        ),
        avoid=(
            "means, variances and correlations of numbers must come out right",
            "rare cases are what the data is wanted for: they are the first to be merged or suppressed",
        ),
        inputs=_INPUTS,
        guarantee="k-anonymity, and with further models l-diversity or t-closeness: checked on the released file.",
        cost="From milliseconds to seconds: it works on distinct combinations of values, not on rows.",
        paper=f"Samarati 2001; Sweeney 2002; told as one flowchart by {_PAPER} (Fig. 8a).",
        example="A surgeon of 43 becomes a medic of 40 to 49.",
        truthful=True,
        steps=_GENERAL,
        conflicts=(
            Relation("noise addition", "noise makes released values untrue, and groups of equal records fall apart"),
            Relation("swapping", "swapped values make groups untrue; swap other columns than those generalized"),
        ),
        combines=(
            _MIXED,
            Relation("top and bottom coding", "put rare extremes together first, then fewer levels are needed"),
            Relation("sampling", "a sample adds doubt whether somebody is in the table at all"),
            Relation("microaggregation", "numbers as group means, words generalized, in the same groups"),
        ),
    ),
    Family(
        name="table recoding",
        title="Table recoding (TR)",
        family="generalization",
        place=1,
        short="change the table step by step",
        intent="Change the table step by step, one column or branch at a time, until it is safe or would cease to be.",
        use=("you want a quick result whose every step can be explained", "the same rule is to fit next month's file"),
        avoid=("you want the least loss: a step once made is never taken back",),
        inputs=_INPUTS,
        guarantee="The promise holds for the released table; the loss is not the least possible.",
        cost="One pass over the groups for each step.",
        paper=f"{_PAPER} (Fig. 7): one flowchart with parameters for four algorithms.",
        example="Raise age to decades, then job to its field, and stop when every group has k people.",
        truthful=True,
        steps=_STEPWISE,
        combines=(_MIXED,),
    ),
    Family(
        name="lattice recoding",
        title="Lattice recoding (LR)",
        family="generalization",
        place=2,
        short="search all choices of one level a column",
        intent="Search all choices of one level for each column, and take one that is safe and loses little.",
        use=(
            "all values of a column shall have one level of detail, which suits most statistics software",
            "you want to see all safe choices, or the proven best one",
            "the same rule is to fit next month's file",
        ),
        avoid=("a few rare records would drag everybody up: allow some suppression, or use local recoding",),
        inputs=_INPUTS,
        guarantee="The promise holds; the chosen levels are minimal (Samarati, Incognito) or proven best (optimal).",
        cost="Depends on the number of choices: the product of the hierarchies' numbers of levels.",
        paper=f"{_PAPER}, Sec. 3.2.",
        example="Age in decades and jobs as they are, or age in halves and fields of work: both safe, one loses less.",
        truthful=True,
        steps=_LATTICE,
        combines=(_MIXED, Relation("local recoding", "recode again, at levels of their own, who would be suppressed")),
    ),
    Family(
        name="multidimensional recoding",
        title="Multidimensional recoding (MR)",
        family="generalization",
        place=3,
        short="divide the records into groups",
        intent="Divide the people into ever smaller groups of similar ones, and release each group as what it spans.",
        use=(
            "you want little loss from a large table, numbers above all",
            "the release is for one task: classification (InfoGain) or regression (LSD)",
        ),
        avoid=(
            "analysts need one level of detail a column: here equal values may come out as different ranges",
            "one rule is to fit all of next month's file: who is in no class is grouped anew",
        ),
        inputs=_INPUTS,
        guarantee="The promise holds for every group; nobody is suppressed.",
        cost="A handful of sorts of the distinct records.",
        paper=f"{_PAPER}, Sec. 3.2 (Fig. 5 for the median).",
        example="20 people are cut at age 41, the younger ten by job, and so on down to groups of k.",
        truthful=True,
        steps=_DIVISION,
        conflicts=(Relation("local suppression", "nobody stands alone at the end, so there is nothing to suppress"),),
    ),
    Family(
        name="swapping",
        title="Swapping",
        place=2,
        short="let values change places between near records",
        intent="Let values change places between records that are alike, so that links to people become doubtful.",
        use=(
            "statistics on single columns must come out exactly: counts, means, variances, extremes",
            "readers know that single records are not true",
        ),
        avoid=(
            "every record must be true",
            "correlations between columns matter: swap tuples, or add correlated noise",
        ),
        inputs=SWAP_INPUTS,
        guarantee="Probabilistic k-anonymity if swapped inside fixed groups of k (strict); otherwise none beforehand.",
        cost="About rows x near records.",
        paper=f"Dalenius and Reiss 1982; Moore 1996; {_THESIS}, Chapter 5.",
        example="The nurse from Turku and the midwife from Turku change jobs; every job is still there, as often.",
        truthful=False,
        steps=_SWAPPING,
        conflicts=(Relation("generalization", "a swapped record in a group is not true any more"),),
        combines=(
            Relation("top and bottom coding", "extremes can still be recognized after a swap: code them first"),
            Relation("sampling", "a sample adds doubt whether somebody is in the table at all"),
        ),
    ),
    Family(
        name="noise addition",
        title="Noise addition",
        place=3,
        short="move values by a random amount",
        intent="Move every value by a random amount, so that nobody's exact value is released.",
        use=("means and correlations matter more than single records", "the amount of distortion is to be set finely"),
        avoid=("every record must be true", "a promise is needed: plain noise gives none"),
        inputs=NOISE_INPUTS,
        guarantee=NO_PROMISE,
        cost="One pass over the rows; for words also the distances to all concepts of the domain.",
        paper=f"Kim 1986; Brand 2002; {_THESIS}, Chapter 6.",
        example="43 becomes 45; influenza becomes bronchitis.",
        truthful=False,
        steps=_NOISE,
        conflicts=(Relation("generalization", "noisy values break up the groups of equal records"),),
        combines=(
            Relation("microaggregation", "group first, then less noise is needed for differential privacy"),
            Relation("top and bottom coding", "extremes stay extreme under noise: code them first"),
        ),
    ),
    Family(
        name="microaggregation",
        title="Microaggregation",
        place=5,
        short="group k similar records, release their centre",
        intent="Group at least k similar records, and release for all of them their mean or most typical values.",
        use=(
            "numbers, or mixed columns, for statistics",
            "k-anonymity is wanted without coarse ranges",
            "means must come out right",
        ),
        avoid=("every record must be true", "variances matter: they shrink"),
        inputs=("the columns to protect", "a taxonomy for columns of words", "k"),
        guarantee="k-anonymity by construction: every released record is shared by at least k people.",
        cost="About rows squared / k comparisons of distinct records.",
        paper=f"Defays and Nanopoulos 1993; Domingo-Ferrer and Mateo-Sanz 2002 (MDAV); {_THESIS}, Sec. 2.3.2.3.",
        example="Three incomes of 38, 40 and 42 thousand become three of 40.",
        truthful=False,
        steps=_GROUPING,
        conflicts=(Relation("swapping", "values swapped before grouping make the groups meaningless"),),
        combines=(
            Relation("differential privacy", "means of k vary less, so less noise is needed"),
            Relation("generalization", "words generalized and numbers averaged in the same groups"),
        ),
    ),
    Family(
        name="set generalization",
        title="Generalization of sets",
        place=6,
        short="true sets, less detailed",
        intent="Replace items of sets by more general ones, until what an attacker may know of a set fits k people.",
        use=("cells hold sets, and every released set must be true",),
        avoid=("topics matter more than truth: microaggregation of sets keeps more of them",),
        inputs=("a column of sets", "a hierarchy of the items", "k, and m: how many items an attacker may know"),
        guarantee="k^m-anonymity: any m items that occur together are shared by at least k people.",
        cost="Grows quickly with m; m = 2 or 3 is usual.",
        paper="Terrovitis, Mamoulis and Kalnis 2008; He and Naughton 2009.",
        example="Beer and diapers in one basket are rare: beer becomes drink.",
        truthful=True,
        steps=_SETS,
        conflicts=(Relation("noise addition", "the sets would no longer be true"),),
        combines=(Relation("generalization", "other columns of the same table are generalized beside the sets"),),
    ),
    Family(
        name="data shuffling",
        title="Data shuffling",
        place=11,
        short="described only: patented",
        intent="Give back the original numbers in the order of noisy ones, so that counts and rank correlations stay.",
        use=("confidential numbers whose counts and rank correlations must stay",),
        avoid=("you have no licence: the method is patented, so Keepsense only describes it",),
        inputs=("columns of numbers",),
        guarantee="None beforehand.",
        cost="One sort a column.",
        paper=f"Muralidhar and Sarathy 2006; {_THESIS}, Sec. 2.3.2.4.",
        example="Incomes are drawn anew to fit the other columns, then replaced by the real ones in the same order.",
        truthful=False,
        steps=Flowchart.line(
            "Confidential numbers and other columns",
            "Measure how their ranks hang together",
            "Draw numbers that hang together likewise",
            "Replace the smallest by the smallest original one, and so on",
            end="The original numbers in another order",
        ),
        conflicts=(Relation("swapping", "both permute the same columns"),),
        combines=(Relation("generalization", "other columns may be generalized; do not touch the shuffled ones"),),
    ),
)
FAMILIES = {family.name: family for family in _EVERY}
"""Families by name."""


# Entries by name


@cache
def catalogue() -> MappingProxyType[str, Described]:
    """Every entry by its name: a family, then what is below it.

    >>> catalogue()["datafly"].family
    'table recoding'
    """
    return MappingProxyType({described.name: described for described in _below(None)})


def _below(family: str | None) -> Iterator[Described]:
    every: list[Described] = [*FAMILIES.values(), *METHODS.values()]
    inside = [described for described in every if described.family == family]
    for described in sorted(inside, key=lambda described: (described.place, described.name)):
        yield described
        yield from _below(described.name)


def entry(name: str) -> Described:
    """An entry by its name, its title or an alias; spaces, hyphens and case do not matter.

    >>> entry("Datafly").name
    'datafly'
    >>> entry("Semantic-Incognito").name, entry("microaggregation of sets").name, entry("local").name
    ('semantic incognito', 'set microaggregation', 'local recoding')
    >>> entry("samarity")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the catalogue has no entry 'samarity'. Did you mean samarati?
    """
    entries = catalogue()
    if name in METHODS:
        return method(name)
    named = {
        plain(spelling): described for described in entries.values() for spelling in (described.title, described.name)
    }
    if plain(name) not in named:
        raise BadInput(f"the catalogue has no entry {name!r}.{did_you_mean(name.strip().lower(), list(entries))}")
    return named[plain(name)]


def children(name: str) -> list[Described]:
    """Entries right below one, in order.

    >>> [described.name for described in children("generalization")][:2]
    ['table recoding', 'lattice recoding']
    """
    return [described for described in catalogue().values() if described.family == name]


def family_of(described: Described) -> str:
    """Name of the outermost family an entry belongs to: a technique in the words of the papers.

    >>> family_of(entry("datafly"))
    'generalization'
    """
    return described.name if described.family is None else family_of(catalogue()[described.family])


def flowchart(name: str) -> Flowchart:
    """The flowchart of an entry: its own, or its family's with the entry's parameters filled in.

    >>> flowchart("table recoding").parameters
    ('direction', 'stop', 'candidates', 'metric', 'suppression')
    >>> flowchart("datafly").parameters
    ()
    """
    described = entry(name)
    if described.steps is not None:
        return described.steps
    if described.family is None:
        raise BadInput(f"the catalogue's entry {name!r} has no flowchart")
    return flowchart(described.family).filled({key: filling.words for key, filling in described.fillings.items()})


def function(described: Described) -> Any:
    """The function that does what an entry describes.

    >>> function(entry("datafly")).__name__
    'datafly'
    """
    if not isinstance(described, Method):
        raise BadInput(f"{described.title} is described in the catalogue, but Keepsense does not do it")
    return described.function


# Families compared (Rodríguez-García 2017, Tables 2.1, 2.2 and 6.1)

Mark = Literal["=", "++", "+", ""]
"""How well a family of methods preserves a feature: fully, highly, fairly, or not."""

DATA_TYPES = ("continuous numbers", "discrete numbers", "ordered categories", "nominal categories")
FEATURES = (
    "truthfulness",
    "data nature",
    "frequency distribution",
    "outliers",
    "granularity",
    "cardinality",
    "mean",
    "variance",
    "correlation",
)

APPLICABLE: dict[str, tuple[str, ...]] = {
    "sampling": DATA_TYPES[1:],
    "generalization": DATA_TYPES,
    "local suppression": DATA_TYPES[1:],
    "noise addition": DATA_TYPES[:1],
    "swapping": DATA_TYPES[:3],
    "microaggregation": DATA_TYPES[:3],
    "data shuffling": DATA_TYPES[:3],
}
"""Data types each family was made for (Table 2.1). Semantic versions take swapping, noise and microaggregation to
nominal values that a taxonomy gives meaning."""

_EXACT: dict[str, Mark] = dict.fromkeys(FEATURES[1:], "=")

PRESERVED: dict[str, dict[str, Mark]] = {
    "sampling": {
        "truthfulness": "=",
        "data nature": "=",
        "granularity": "+",
        "mean": "+",
        "variance": "+",
        "correlation": "+",
    },
    "generalization": {"truthfulness": "=", "cardinality": "="},
    "local suppression": {"truthfulness": "=", "data nature": "="},
    "noise addition": {
        "data nature": "=",
        "outliers": "+",
        "granularity": "+",
        "cardinality": "=",
        "mean": "=",
        "variance": "++",
        "correlation": "=",
    },
    "swapping": {**_EXACT, "correlation": ""},
    "microaggregation": {
        "data nature": "=",
        "outliers": "+",
        "granularity": "+",
        "cardinality": "=",
        "mean": "=",
        "correlation": "+",
    },
    "data shuffling": {**_EXACT, "correlation": "++"},
}
"""Features of the data each family preserves, and how well (Table 2.1); what is not listed is not preserved.

The mark for correlation under noise is that of correlated noise."""

SATISFIES: dict[str, tuple[str, ...]] = {
    KAnonymity.name: ("generalization", "local suppression", "microaggregation"),
    TCloseness.name: ("generalization", "local suppression", "microaggregation"),
    DistinctDiversity.name: ("generalization", "local suppression"),
    ProbabilisticKAnonymity.name: ("swapping", "generalization", "local suppression", "microaggregation"),
    DifferentialPrivacy.name: ("differential privacy",),
}
"""Families that can keep a promise (Table 2.2). Generalization, suppression and microaggregation keep probabilistic
k-anonymity too (Sec. 2.5.2), with more loss than it asks for. The table names noise addition for differential privacy,
alone or after microaggregation: noise that is calibrated to it, which is a family of its own here, because noise
that only masks keeps no such promise."""


def mark(family: str, feature: str) -> Mark:
    """How well a family of methods preserves a feature.

    >>> mark("swapping", "mean"), mark("swapping", "correlation")
    ('=', '')
    """
    return PRESERVED.get(family, {}).get(feature, "")
