"""Algorithms of table recoding (TR): each fills in the parameters of one flowchart."""

from __future__ import annotations

from keepsense.guide.pattern import Entry, Filling, Relation

_UP = Filling("up", "the table as it is; steps go to coarser values")
_DOWN = Filling("down", "every column at its most general value; steps go to finer values")
_LEVELS = Filling("levels", "one column, all its values at once, to the next level")
_BRANCHES = Filling("branches", "one branch of one hierarchy; other branches stay as they are")
_SAFE = Filling(None, "Do all groups keep the promise, but for records that may be suppressed?")
_NO_SAFE_STEP = Filling(None, "Is there no step left that keeps the promise and tells more about the target?")
_SHARE = Filling("share", "Suppress the records that still break the promise, up to the share you allow")
_FEW = Filling("at most k", "Suppress the records that still stand alone: at most k")
_TARGET = "a column the release is meant to predict, such as whether somebody fell ill"

ENTRIES = (
    Entry(
        name="datafly",
        title="Datafly",
        kind="algorithm",
        parent="table recoding",
        short="raise the column with most different values",
        intent="Raise the column with most different values by one level, until few records stand alone.",
        use=("you want a quick first result that is easily explained", "the same rule is to fit next month's file"),
        avoid=("detail matters: it generalizes more than needed, since a column once raised stays so",),
        inputs=("columns, hierarchies and k",),
        guarantee="k-anonymity, and further models if asked; at most k records, or a share you allow, are suppressed.",
        cost="One pass over the groups for each level raised: milliseconds.",
        paper="Sweeney 2002; flowchart after Ben Fredj et al. 2015 (Fig. 3a and 6).",
        example="Age has 8 values and education 5, so age is raised first, to ranges of ten years.",
        truthful=True,
        nine=True,
        code="keepsense.methods.generalize.datafly:datafly",
        project="datafly",
        fillings={
            "direction": _UP,
            "candidates": _LEVELS,
            "metric": Filling("distinct_values", "the number of different values in the column, most first"),
            "suppression": _FEW,
            "stop": _SAFE,
        },
    ),
    Entry(
        name="mu-argus",
        title="µ-Argus",
        kind="algorithm",
        parent="table recoding",
        short="mend rare combinations of two or three columns",
        intent="Look for rare combinations of two or three columns only; generalize or blank out what makes them rare.",
        use=(
            "attackers can know only two or three facts about a person",
            "you want to blank out cells, not whole records",
        ),
        avoid=(
            "attackers may know more: it does not check all combinations, so k-anonymity over all columns is not "
            "promised unless you ask for the strict mode",
        ),
        inputs=("columns, hierarchies and k", "how many facts an attacker may know"),
        guarantee="Every combination of a few columns occurs at least k times; of all columns only in strict mode.",
        cost="One count for each combination of two or three columns.",
        paper="Hundepool and Willenborg 1996; category after Ben Fredj et al. 2015.",
        example="A widowed surgeon occurs once: surgeon is blanked out in that record.",
        truthful=True,
        nine=True,
        code="keepsense.methods.generalize.mu_argus:mu_argus",
        project="mu-argus",
        fillings={
            "direction": _UP,
            "candidates": _LEVELS,
            "metric": Filling(
                "rare combinations", "the records in rare combinations that the column takes part in, most first"
            ),
            "suppression": Filling("cells", "Blank out single cells that still make a combination rare"),
            "stop": Filling(
                None, "Is every combination of a few columns frequent, but for cells that may be blanked out?"
            ),
        },
        conflicts=(Relation("microaggregation", "blanked-out cells cannot be averaged"),),
    ),
    Entry(
        name="bottom-up",
        title="Bottom-Up Generalization",
        kind="algorithm",
        parent="table recoding",
        short="merge branches, for classification",
        intent="Merge branches of the hierarchies, those first that cost least knowledge about a target column.",
        use=("the release is for classification, and top-down stops too early",),
        avoid=("there is no target column: Mondrian or the optimal search lose less",),
        inputs=("columns, hierarchies and k", _TARGET),
        guarantee="k-anonymity, and further models if asked.",
        cost="Steps x columns x one pass over the groups.",
        paper="Wang, Yu and Chakraborty 2004; category after Ben Fredj et al. 2015.",
        example="Nurse and surgeon fall ill equally often: they become medic before farmer and teacher are touched.",
        truthful=True,
        nine=True,
        code="keepsense.methods.generalize.bottom_up:bottom_up",
        project="bottom-up",
        fillings={
            "direction": _UP,
            "candidates": _BRANCHES,
            "metric": Filling("trade_off", "what it loses about the target for each record the smallest group gains"),
            "suppression": _SHARE,
            "stop": _SAFE,
        },
    ),
    Entry(
        name="top-down",
        title="Top-Down Specialization",
        kind="algorithm",
        parent="table recoding",
        short="open up branches, for classification",
        intent="Begin with everything at its most general; open up the branches that tell most about a target column.",
        use=("the release is for classification: predicting a column such as whether somebody falls ill",),
        avoid=("there is no target column", "analysts need detail that says nothing about the target: it stays hidden"),
        inputs=("columns, hierarchies and k", _TARGET),
        guarantee="k-anonymity, and further models if asked: it holds at the start and after every step.",
        cost="Steps x columns x one pass over the distinct records.",
        paper="Fung, Wang and Yu 2005; flowchart after Ben Fredj et al. 2015 (Fig. 3b).",
        example="Any age becomes below 40 and 40 or more, because illness differs most between these two.",
        truthful=True,
        nine=True,
        code="keepsense.methods.generalize.top_down:top_down",
        project="top-down",
        fillings={
            "direction": _DOWN,
            "candidates": _BRANCHES,
            "metric": Filling(
                "trade_off", "what it tells about the target, set against how much the smallest group shrinks"
            ),
            "suppression": _SHARE,
            "stop": _NO_SAFE_STEP,
        },
    ),
    Entry(
        name="semantic datafly",
        title="Semantic Datafly",
        kind="algorithm",
        parent="table recoding",
        short="raise the column that loses least meaning",
        intent="Like Datafly, but the column goes first whose next level changes the meaning of its words least.",
        use=("columns hold words, their meaning matters, and a simple rule for all months is wanted",),
        avoid=("columns have no taxonomy: there is no meaning to compare",),
        inputs=("columns, hierarchies with concepts, and k", "a semantic distance for each column of words"),
        guarantee="As Datafly.",
        cost="As Datafly, and the distances between values and their ancestors.",
        paper="Ayala-Rivera et al. 2017 (Sec. 4), on Sweeney 2002.",
        example="Surgeon to medic loses less meaning than Kyiv to Europe, so jobs are raised first.",
        truthful=True,
        code="keepsense.methods.generalize.semantic_datafly:semantic_datafly",
        project="semantic datafly",
        fillings={
            "direction": _UP,
            "candidates": _LEVELS,
            "metric": Filling("least_loss", "the meaning it loses, least first"),
            "suppression": _FEW,
            "stop": _SAFE,
        },
    ),
)
