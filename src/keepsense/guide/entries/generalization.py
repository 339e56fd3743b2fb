"""Generalization, its three categories and their flowcharts (Ben Fredj, Lammari and Comyn-Wattiau 2015)."""

from __future__ import annotations

from keepsense.guide.flowchart import Edge, Flowchart, Node
from keepsense.guide.pattern import Entry, Relation

PAPER = "Ben Fredj, Lammari and Comyn-Wattiau 2015"
_BEGIN = Node(
    "begin",
    "The table, the columns by which people could be recognized, a hierarchy for each, and the promise",
    "start",
)
_END = Node("end", "The anonymized table", "end")
_LOOP = (
    Edge("begin", "prepare"),
    Edge("prepare", "finished"),
    Edge("finished", "candidates", "no"),
    Edge("candidates", "choose"),
    Edge("choose", "apply"),
    Edge("apply", "finished"),
    Edge("finished", "settle", "yes"),
    Edge("settle", "end"),
)


def _loop(prepare: str, finished: str, candidates: str, choose: str, apply: str, settle: str) -> Flowchart:
    """The loop that all of generalization shares; each node says which part of the technique it makes concrete."""
    named = {"prepare": prepare, "candidates": candidates, "choose": choose, "apply": apply, "settle": settle}
    steps = {key: Node(key, text, "step", key) for key, text in named.items()}
    ask = Node("finished", finished, "question", "finished")
    order = (_BEGIN, steps["prepare"], ask, steps["candidates"], steps["choose"], steps["apply"], steps["settle"], _END)
    return Flowchart(order, _LOOP)


TECHNIQUE = _loop(
    "Set up what can be changed",
    "Is the search finished?",
    "Find the changes that are possible next",
    "Judge them, and choose",
    "Make the change, or note what it showed",
    "Recode the table with what was found; suppress what still breaks the promise, if that is allowed",
)
TABLE = _loop(
    "Begin with {direction}",
    "{stop}",
    "List the steps that can be made: {candidates}",
    "Score each step by {metric}, and take the best",
    "Make that step, and group the records again",
    "{suppression}",
)
LATTICE = _loop(
    "Lay out the choices of one level for each column: {lattice}",
    "{stop}",
    "Take the next choice: {order}",
    "Group the records at these levels: do all groups keep the promise, but for records that may be suppressed?",
    "Note what follows for other choices: {tagging}",
    "Release the table at the levels of {measure}; suppress the few records that still stand alone",
)
MULTIDIMENSIONAL = _loop(
    "Put all records into one group",
    "Is there no group left that can be cut?",
    "Take a group and the column to cut it in: {order}",
    "Find the place to cut at: {score}{branches}",
    "Cut it in two if both parts keep the promise ({relaxed}); if there is no such cut{gain}, close the group",
    "Release each group as what it spans: numbers as a range, words as their nearest common ancestor",
)

_INPUTS = (
    "the table",
    "which columns could tell who somebody is",
    "a hierarchy for each of these columns (Keepsense builds one from a taxonomy)",
    "the promise, for instance k-anonymity with k = 5",
)
_MIXED = Relation("local suppression", "a few odd records are suppressed so that all others keep more detail")

ENTRIES = (
    Entry(
        name="generalization",
        title="Generalization",
        kind="technique",
        parent=None,
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
        paper=f"Samarati 2001; Sweeney 2002; told as one flowchart by {PAPER} (Fig. 8a).",
        example="A surgeon of 43 becomes a medic of 40 to 49.",
        truthful=True,
        steps=TECHNIQUE,
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
    Entry(
        name="table recoding",
        title="Table recoding (TR)",
        kind="category",
        parent="generalization",
        short="change the table step by step",
        intent="Change the table step by step, one column or branch at a time, until it is safe or would cease to be.",
        use=("you want a quick result whose every step can be explained", "the same rule is to fit next month's file"),
        avoid=("you want the least loss: a step once made is never taken back",),
        inputs=_INPUTS,
        guarantee="The promise holds for the released table; the loss is not the least possible.",
        cost="One pass over the groups for each step.",
        paper=f"{PAPER} (Fig. 7): one flowchart with parameters for four algorithms.",
        example="Raise age to decades, then job to its field, and stop when every group has k people.",
        truthful=True,
        steps=TABLE,
        combines=(_MIXED,),
    ),
    Entry(
        name="lattice recoding",
        title="Lattice recoding (LR)",
        kind="category",
        parent="generalization",
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
        paper=f"{PAPER}, Sec. 3.2.",
        example="Age in decades and jobs as they are, or age in halves and fields of work: both safe, one loses less.",
        truthful=True,
        steps=LATTICE,
        combines=(_MIXED, Relation("local recoding", "recode again, at levels of their own, who would be suppressed")),
    ),
    Entry(
        name="multidimensional recoding",
        title="Multidimensional recoding (MR)",
        kind="category",
        parent="generalization",
        short="divide the records into groups",
        intent="Divide the people into ever smaller groups of similar ones, and release each group as what it spans.",
        use=(
            "you want little loss from a large table, numbers above all",
            "the release is for one task: classification (InfoGain) or regression (LSD)",
        ),
        avoid=(
            "analysts need one level of detail a column: here equal values may come out as different ranges",
            "the same rule is to fit next month's file: groups belong to one table",
        ),
        inputs=_INPUTS,
        guarantee="The promise holds for every group; nobody is suppressed.",
        cost="A handful of sorts of the distinct records.",
        paper=f"{PAPER}, Sec. 3.2 (Fig. 5 for the median).",
        example="20 people are cut at age 41, the younger ten by job, and so on down to groups of k.",
        truthful=True,
        steps=MULTIDIMENSIONAL,
        conflicts=(Relation("local suppression", "nobody stands alone at the end, so there is nothing to suppress"),),
    ),
)
