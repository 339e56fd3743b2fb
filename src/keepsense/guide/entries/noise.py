"""Noise: values are moved by a random amount, numbers along their scale, words along their meaning."""

from __future__ import annotations

from keepsense.guide.entries.swapping import THESIS
from keepsense.guide.flowchart import Edge, Flowchart, Node
from keepsense.guide.pattern import Entry, Filling, Relation

NOISE = Flowchart(
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
_ALONE = Filling("variance", "how much each column varies, for words in meaning")
_TOGETHER = Filling("covariance", "how much the columns vary, and how far they vary together")
_REFERENCE = Filling("mean", "the column's mean (or its partner's value, or the root: your choice)")
_INPUTS = ("the columns to protect", "a taxonomy for columns of words", "alpha, usually 0.1 to 0.5")
_NONE = "None beforehand: the noise is masking, not differential privacy. Risk is measured afterwards."

PRAM = Flowchart(
    (
        Node("begin", "The table, a column, and how often a value shall stay", "start"),
        Node("matrix", "Make a table of chances: which value becomes which, near ones more often"),
        Node("draw", "Draw every cell anew from the chances of its value"),
        Node("publish", "Publish the chances, so that analysts can correct their counts"),
        Node("end", "Redrawn values", "end"),
    ),
    (Edge("begin", "matrix"), Edge("matrix", "draw"), Edge("draw", "publish"), Edge("publish", "end")),
)

ENTRIES = (
    Entry(
        name="noise addition",
        title="Noise addition",
        kind="technique",
        parent=None,
        short="move values by a random amount",
        intent="Move every value by a random amount, so that nobody's exact value is released.",
        use=("means and correlations matter more than single records", "the amount of distortion is to be set finely"),
        avoid=("every record must be true", "a promise is needed: plain noise gives none"),
        inputs=_INPUTS,
        guarantee=_NONE,
        cost="One pass over the rows; for words also the distances to all concepts of the domain.",
        paper=f"Kim 1986; Brand 2002; {THESIS}, Chapter 6.",
        example="43 becomes 45; influenza becomes bronchitis.",
        truthful=False,
        steps=NOISE,
        conflicts=(Relation("generalization", "noisy values break up the groups of equal records"),),
        combines=(
            Relation("microaggregation", "group first, then less noise is needed for differential privacy"),
            Relation("top and bottom coding", "extremes stay extreme under noise: code them first"),
        ),
    ),
    Entry(
        name="noise",
        title="Uncorrelated semantic noise",
        kind="algorithm",
        parent="noise addition",
        short="each column by itself",
        intent="Replace each word by one as far away in meaning as a random error says, each column by itself.",
        use=("one column of words is released, or columns that do not depend on each other",),
        avoid=("columns depend on each other: their correlation suffers",),
        inputs=_INPUTS,
        guarantee=_NONE,
        cost="Distinct values x concepts of the domain, then one pass.",
        paper=f"{THESIS}, Sec. 6.3 (SNA-Algorithms 1 to 3).",
        example="Influenza becomes bronchitis, now and then pneumonia, hardly ever fracture.",
        truthful=False,
        code="keepsense.methods.perturb.noise:add_noise",
        project="noise",
        fillings={"variation": _ALONE, "reference": _REFERENCE},
    ),
    Entry(
        name="correlated noise",
        title="Correlated semantic noise",
        kind="algorithm",
        parent="noise addition",
        short="columns together, as they vary together",
        intent="Move words of several columns together, so that the columns still belong together afterwards.",
        use=("correlations between columns of words matter",),
        avoid=("only one column is released", "a promise is needed"),
        inputs=_INPUTS,
        guarantee=_NONE,
        cost="As uncorrelated noise, and the distance matrices of the columns.",
        paper=f"{THESIS}, Sec. 6.4; which reference to take: Table 6.1.",
        example="Diagnosis and treatment move in the same direction.",
        truthful=False,
        code="keepsense.methods.perturb.noise_correlated:add_correlated_noise",
        fillings={
            "variation": _TOGETHER,
            "reference": Filling("root", "the root, for correlations (the mean, where means matter more)"),
        },
    ),
    Entry(
        name="noise on numbers",
        title="Noise on numbers",
        kind="algorithm",
        parent="noise addition",
        short="the classical method, plain or correlated",
        intent="Add random numbers of mean zero to columns of numbers; correlated noise keeps their correlations.",
        use=("means and correlations of numbers matter",),
        avoid=("exact values or counts matter", "a promise is needed: see differential privacy"),
        inputs=("the columns of numbers", "alpha, usually 0.1 to 0.5"),
        guarantee=_NONE,
        cost="One pass over the rows.",
        paper=f"Kim 1986; {THESIS}, Eq. 2.1 to 2.7.",
        example="An income of 41,300 becomes 39,850.",
        truthful=False,
        code="keepsense.methods.perturb.noise_numeric:add_noise_to_numbers",
        fillings={
            "variation": Filling("variance", "how much the columns vary, and how far they vary together"),
            "reference": Filling("none", "zero: numbers have a sign of their own"),
        },
    ),
    Entry(
        name="noise on streams",
        title="Semantic noise on streams",
        kind="algorithm",
        parent="noise addition",
        short="records as they come",
        intent="Move words of records one by one, as they come, without keeping the records.",
        use=("data arrives all the time and is released at once",),
        avoid=("the whole table is at hand: its own variation is the better measure",),
        inputs=_INPUTS,
        guarantee=_NONE,
        cost="A bounded memory; one lookup a record.",
        paper=f"{THESIS}, Sec. 6.3, applied record by record.",
        example="Every admission is released within the second, its diagnosis moved a little.",
        truthful=False,
        code="keepsense.methods.perturb.stream:NoiseStream",
        fillings={"variation": _ALONE, "reference": _REFERENCE},
    ),
    Entry(
        name="post-randomization",
        title="Post-randomization (PRAM)",
        kind="technique",
        parent=None,
        short="redraw values by published chances",
        intent="Redraw every value by chances that are published, so that analysts can undo the effect on counts.",
        use=("counts of categories must be estimable without bias", "no taxonomy is at hand, or any matrix is wished"),
        avoid=("every record must be true", "analysts cannot be expected to correct for the chances"),
        inputs=("a column", "how often a value shall stay, or a whole matrix of chances"),
        guarantee="None beforehand, unless the chances are those of randomized response (differential privacy).",
        cost="Distinct values squared, then one draw a row.",
        paper="Kooiman, Willenborg and Gouweleeuw 1997; semantic matrix: own.",
        example="A nurse stays a nurse in 8 of 10 cases, becomes a midwife in 1, something else in 1.",
        truthful=False,
        code="keepsense.methods.perturb.pram:pram",
        project="post-randomization",
        steps=PRAM,
        combines=(Relation("differential privacy", "with the right chances it is differentially private"),),
    ),
)
