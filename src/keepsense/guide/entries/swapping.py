"""Swapping: values change places between similar records. One flowchart, and what each variant fills in."""

from __future__ import annotations

from keepsense.guide.flowchart import Edge, Flowchart, Node
from keepsense.guide.pattern import Entry, Filling, Relation

THESIS = "Rodríguez-García 2017"

SWAPPING = Flowchart(
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
_EXTREME = Filling("extremes", "the record farthest from the one before, beginning at the edge")
_ONE = Filling("one draw", "Let it change places with one of them that is not yet swapped, drawn at random")
_INPUTS = ("the columns to protect", "a taxonomy for columns of words", "k, how many near records may change places")
_EDITS = "rules can forbid impossible pairs, such as a man and a pregnancy"
_NOT_PROMISED = "None beforehand; risk is measured afterwards. For a promise use strict rank swapping."

ENTRIES = (
    Entry(
        name="swapping",
        title="Swapping",
        kind="technique",
        parent=None,
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
        inputs=_INPUTS,
        guarantee="Probabilistic k-anonymity if swapped inside fixed groups of k (strict); otherwise none beforehand.",
        cost="About rows x near records.",
        paper=f"Dalenius and Reiss 1982; Moore 1996; {THESIS}, Chapter 5.",
        example="The nurse from Turku and the midwife from Turku change jobs; every job is still there, as often.",
        truthful=False,
        steps=SWAPPING,
        conflicts=(Relation("generalization", "a swapped record in a group is not true any more"),),
        combines=(
            Relation("top and bottom coding", "extremes can still be recognized after a swap: code them first"),
            Relation("sampling", "a sample adds doubt whether somebody is in the table at all"),
        ),
    ),
    Entry(
        name="rank swapping by one ranking",
        title="Semantic rank swapping by one ranking (SRS-1)",
        kind="algorithm",
        parent="swapping",
        short="one ranking of all values",
        intent="Rank a column's words by distance from an extreme one, and swap inside a window of the ranking.",
        use=("you want the plain adaptation of rank swapping, for comparison",),
        avoid=("little distortion is wanted: words far apart can stand side by side in one ranking",),
        inputs=_INPUTS,
        guarantee=_NOT_PROMISED,
        cost="A ranking, then one pass.",
        paper=f"{THESIS}, SRS-Algorithm 1.",
        example="Ranked from farmer, the nurse and the pilot are equally far, and may change places.",
        truthful=False,
        code="keepsense.methods.perturb.swap:swap_by_ranking",
        project="rank swapping by one ranking",
        fillings={
            "reference": Filling("ranking", "the next record in one ranking from the most distant value"),
            "cluster": Filling("window", "the k records that follow it in the ranking"),
            "exchange": _ONE,
        },
    ),
    Entry(
        name="rank swapping",
        title="Semantic rank swapping by clusters (SRS-2)",
        kind="algorithm",
        parent="swapping",
        short="each column among its nearest values",
        intent="Swap each column's words with those that mean nearly the same.",
        use=("statistics on single columns of words must come out exactly", "columns hardly depend on each other"),
        avoid=("columns depend on each other: swap tuples",),
        inputs=_INPUTS,
        guarantee=_NOT_PROMISED,
        cost="Distances between distinct values, then one pass.",
        paper=f"{THESIS}, SRS-Algorithm 2.",
        example="Nurse changes places with midwife, not with pilot.",
        truthful=False,
        code="keepsense.methods.perturb.swap:swap_by_clusters",
        project="rank swapping",
        fillings={
            "reference": _EXTREME,
            "cluster": Filling("column", "its k nearest records in this column"),
            "exchange": _ONE,
        },
        combines=(Relation("swapping", _EDITS),),
    ),
    Entry(
        name="rank swapping of tuples",
        title="Semantic rank swapping of tuples (SRS-3)",
        kind="algorithm",
        parent="swapping",
        short="among records near in all columns",
        intent="Swap words between records that are alike in all columns, so that columns still belong together.",
        use=("columns of words depend on each other, such as diagnosis and treatment",),
        inputs=_INPUTS,
        guarantee=_NOT_PROMISED,
        cost="Rows x tuples near a reference.",
        paper=f"{THESIS}, SRS-Algorithm 3.",
        example="A fracture with a cast swaps with a sprain with a bandage; casts stay with broken bones.",
        truthful=False,
        code="keepsense.methods.perturb.swap_tuples:swap_tuples",
        project="rank swapping of tuples",
        fillings={
            "reference": _EXTREME,
            "cluster": Filling("tuples", "its k nearest records over all columns"),
            "exchange": Filling(
                "one draw a column", "In each column let it change places with one of them not yet swapped there"
            ),
        },
    ),
    Entry(
        name="strict rank swapping",
        title="Strict rank swapping",
        kind="algorithm",
        parent="swapping",
        short="permute inside groups of k: a promise",
        intent="Put similar records into groups of at least k, and mix the values inside each group thoroughly.",
        use=("statistics on single columns must come out exactly and re-identification must be bounded by 1/k",),
        avoid=("every record must be true",),
        inputs=_INPUTS,
        guarantee="Probabilistic k-anonymity: a released value belongs to a given member with a chance of at most 1/k.",
        cost="Rows / k x distinct records.",
        paper=f"Own method; the promise is that of {THESIS}, Sec. 2.5.2 (Soria-Comas and Domingo-Ferrer 2012).",
        example="Five nurses, midwives and orderlies form a group; who had which job is mixed.",
        truthful=False,
        code="keepsense.methods.perturb.strict:swap_in_groups",
        project="strict rank swapping",
        fillings={
            "reference": _EXTREME,
            "cluster": Filling("groups", "its k nearest records among those in no group"),
            "exchange": Filling("permutation", "Mix their values, every order being equally likely"),
        },
    ),
    Entry(
        name="rank swapping of numbers",
        title="Rank swapping of numbers",
        kind="algorithm",
        parent="swapping",
        short="numbers and ordered values, by rank",
        intent="Swap numbers or ordered values with others of nearly the same rank.",
        use=("counts, mean, variance and extremes of numbers must come out exactly",),
        avoid=("correlations and regressions matter: they suffer most from swapping",),
        inputs=("the columns to protect", "how many ranks a value may move"),
        guarantee="None beforehand; risk is measured afterwards.",
        cost="One sort a column.",
        paper=f"Moore 1996; Nin, Herranz and Torra 2008 (hidden intervals); {THESIS}, Sec. 2.3.2.2.",
        example="The third and the seventh income change places.",
        truthful=False,
        code="keepsense.methods.perturb.swap_numeric:swap_numbers",
        project="rank swapping of numbers",
        fillings={
            "reference": Filling("ranking", "the next record in the order of the column"),
            "cluster": Filling("window", "the records within the allowed number of ranks"),
            "exchange": _ONE,
        },
    ),
)
