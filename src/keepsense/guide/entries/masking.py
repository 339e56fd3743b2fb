"""Small techniques that go before or beside others: sampling, top and bottom coding, local suppression, shuffling."""

from __future__ import annotations

from itertools import pairwise

from keepsense.guide.entries.swapping import THESIS
from keepsense.guide.flowchart import Edge, Flowchart, Node
from keepsense.guide.pattern import Entry, Relation


def _line(start: str, *steps: str, end: str) -> Flowchart:
    nodes = [Node("begin", start, "start"), *(Node(f"step{i}", text) for i, text in enumerate(steps, start=1))]
    nodes.append(Node("end", end, "end"))
    edges = [Edge(a.key, b.key) for a, b in pairwise(nodes)]
    return Flowchart(tuple(nodes), tuple(edges))


ENTRIES = (
    Entry(
        name="sampling",
        title="Sampling",
        kind="technique",
        parent=None,
        short="release some of the records",
        intent="Release a random part of the records, so that nobody knows whether a person is in it.",
        use=("the table is large, and a part of it serves the purpose", "columns are categories"),
        avoid=("numbers with many digits are released: they stay unique in the sample and in any other list",),
        inputs=("the share of records to release",),
        guarantee="None by itself; it lowers the journalist's risk, which is measured with a population table.",
        cost="One pass over the rows.",
        paper=f"Willenborg and de Waal 2001; {THESIS}, Sec. 2.3.1.",
        example="Every twentieth form of a census is released.",
        truthful=True,
        code="keepsense.methods.generalize.sampling:sampling",
        steps=_line(
            "The table and a share",
            "Draw that share of the records at random",
            "Protect what was drawn as any other table",
            end="A smaller table",
        ),
        combines=(
            Relation("generalization", "the sample is generalized like any table"),
            Relation("swapping", "the sample is swapped like any table"),
        ),
    ),
    Entry(
        name="top and bottom coding",
        title="Top and bottom coding",
        kind="technique",
        parent=None,
        short="put rare extremes together",
        intent="Put the rare values at both ends together, since the oldest and the richest are known to everybody.",
        use=("numbers or ordered values have rare extremes", "a rule asks for it, such as ages of 90 and more"),
        avoid=("extremes are what the data is wanted for",),
        inputs=("a column of numbers or ordered values", "the bounds, or how many records each end must hold"),
        guarantee="None by itself; ends hold at least as many records as you ask for.",
        cost="One pass over the values.",
        paper=f"Willenborg and de Waal 2001; {THESIS}, Sec. 2.3.1.",
        example="All ages above 89 become 90 or more.",
        truthful=True,
        code="keepsense.methods.generalize.coding:top_and_bottom_coding",
        steps=_line(
            "A column that can be ordered",
            "Find the bounds beyond which values are rare",
            "Replace all values beyond a bound by the bound and more, or and less",
            end="The column without rare extremes",
        ),
        combines=(Relation("generalization", "fewer levels are needed afterwards"),),
    ),
    Entry(
        name="local suppression",
        title="Local suppression",
        kind="technique",
        parent=None,
        short="blank out what makes records rare",
        intent="Blank out single cells, or whole records, that make somebody stand out.",
        use=("few records are rare, and all others shall keep their detail",),
        avoid=("many records are rare: generalize first", "rare cases are what the data is wanted for"),
        inputs=("columns and k", "the share of records or cells that may be blanked out"),
        guarantee="k-anonymity, if everything rare may be blanked out.",
        cost="A few counts.",
        paper=f"Samarati 2001; {THESIS}, Sec. 2.3.1.",
        example="The only surgeon in the village has her job blanked out.",
        truthful=True,
        code="keepsense.methods.generalize.local_suppression:local_suppression",
        project="local suppression",
        steps=_line(
            "The table, the columns and k",
            "Count how often every combination of values occurs",
            "Blank out, in each rare one, the cell that makes it rare",
            "Count again, until nothing is rare",
            end="The table with a few blanks",
        ),
        combines=(Relation("generalization", "the usual pair: generalize a little, suppress a little"),),
        conflicts=(Relation("noise addition", "blanks in noisy columns tell which records were rare"),),
    ),
    Entry(
        name="data shuffling",
        title="Data shuffling",
        kind="technique",
        parent=None,
        short="described only: patented",
        intent="Give back the original numbers in the order of noisy ones, so that counts and rank correlations stay.",
        use=("confidential numbers whose counts and rank correlations must stay",),
        avoid=("you have no licence: the method is patented, so Keepsense only describes it",),
        inputs=("columns of numbers",),
        guarantee="None beforehand.",
        cost="One sort a column.",
        paper=f"Muralidhar and Sarathy 2006; {THESIS}, Sec. 2.3.2.4.",
        example="Incomes are drawn anew to fit the other columns, then replaced by the real ones in the same order.",
        truthful=False,
        steps=_line(
            "Confidential numbers and other columns",
            "Measure how their ranks hang together",
            "Draw numbers that hang together likewise",
            "Replace the smallest by the smallest original one, and so on",
            end="The original numbers in another order",
        ),
        combines=(Relation("generalization", "other columns may be generalized; do not touch the shuffled ones"),),
        conflicts=(Relation("swapping", "both permute the same columns"),),
    ),
)
