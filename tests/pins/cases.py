"""Projects whose releases are pinned: one for every method, and some for all else a project can say."""

from __future__ import annotations

from typing import Any

AGE = {"role": "quasi-identifier", "kind": "numeric"}
JOB = {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person", "hierarchy": "auto"}
SIZE = {"role": "quasi-identifier", "kind": "ordinal", "order": ["small", "middle", "large"]}
LIKES = {"role": "quasi-identifier", "kind": "set", "taxonomy": "wordnet"}
GONE = {"role": "identifier"}
AS_IT_IS = {"role": "insensitive"}
TARGET = {"role": "target"}
SENSITIVE = {"role": "sensitive"}

BASE: dict[str, dict[str, Any]] = {
    "id": GONE,
    "age": AGE,
    "born": GONE,
    "job": JOB,
    "size": SIZE,
    "town": GONE,
    "likes": GONE,
    "illness": SENSITIVE,
    "pay": {"role": "insensitive", "kind": "numeric"},
    "many": GONE,
}
WITH_SETS = {"likes": LIKES}
PREDICTED = {"illness": TARGET}
WORDS = {"age": GONE, "size": GONE}
NUMBERS = {"job": GONE}
SETS = {"age": {**AS_IT_IS, "accept": "identifying"}, "job": AS_IT_IS, "size": AS_IT_IS, "likes": LIKES}
NOTHING = dict.fromkeys(BASE, GONE)
DATED = {"born": {"role": "quasi-identifier", "kind": "date"}}

K = {"model": "k-anonymity", "k": 4}
LINKAGE = {"model": "linkage risk", "threshold": 0.9}
PIECES = {"model": "k^m-anonymity of pieces", "k": 4, "m": 2, "column": "likes"}
PRIVATE = {"model": "differential privacy", "epsilon": 4.0}
BOUNDS = {"bounds": {"age": [0, 120]}}


def _case(
    method: str,
    columns: dict[str, Any] | None = None,
    promises: list[dict[str, Any]] | None = None,
    *,
    release: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    source: str = "people.csv",
    **sections: Any,
) -> dict[str, Any]:
    return {
        "source": {"path": source},
        "columns": {**BASE, **(columns or {})},
        "privacy": promises or [K],
        "method": {"name": method, "parameters": parameters or {}},
        # rows stay in order, so that what is released depends on the method alone
        "release": {"suppression": 0.1, "shuffle": False, **(release or {})},
        **sections,
    }


METHODS: dict[str, dict[str, Any]] = {
    "optimal": _case("optimal", {**WITH_SETS, **DATED}),
    "semantic incognito": _case("semantic incognito", WORDS),
    "incognito": _case("incognito"),
    "samarati": _case("samarati"),
    "anytime": _case("anytime"),
    "datafly": _case("datafly", DATED),
    "semantic datafly": _case("semantic datafly", WORDS),
    "mu-argus": _case("mu-argus", parameters={"strict": True}),
    "bottom-up": _case("bottom-up", PREDICTED),
    "top-down": _case("top-down", PREDICTED),
    "mondrian": _case("mondrian", WITH_SETS),
    "infogain mondrian": _case("infogain mondrian", PREDICTED),
    "lsd mondrian": _case("lsd mondrian", {"pay": {"role": "target", "kind": "numeric"}}),
    "semantic mondrian": _case("semantic mondrian", DATED),
    "local recoding": _case("local recoding"),
    "local suppression": _case("local suppression"),
    "differentially private generalization": _case(
        "differentially private generalization",
        {**NOTHING, "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"}},
        [{"model": "approximate differential privacy", "epsilon": 2.0, "delta": 0.1}],
        parameters={"levels": {"job": 1}},
        release={"shuffle": True},
    ),
    "rank swapping": _case("rank swapping", WITH_SETS, [LINKAGE], parameters={"k": 10}),
    "rank swapping of tuples": _case("rank swapping of tuples", WITH_SETS, [LINKAGE], parameters={"k": 10}),
    "rank swapping by one ranking": _case("rank swapping by one ranking", {}, [LINKAGE], parameters={"k": 10}),
    "rank swapping of numbers": _case("rank swapping of numbers", NUMBERS, [LINKAGE], parameters={"percent": 10}),
    "strict rank swapping": _case(
        "strict rank swapping", {**WITH_SETS, **DATED}, [{"model": "probabilistic k-anonymity", "k": 4}]
    ),
    "noise": _case("noise", WITH_SETS, [LINKAGE]),
    "correlated noise": _case("correlated noise", WITH_SETS, [LINKAGE]),
    "noise on numbers": _case("noise on numbers", NUMBERS, [LINKAGE]),
    "post-randomization": _case("post-randomization", {}, [LINKAGE]),
    "microaggregation of records": _case("microaggregation of records"),
    "adaptive microaggregation": _case("adaptive microaggregation"),
    "individual ranking": _case("individual ranking", {}, [LINKAGE], parameters={"k": 4}),
    "optimal univariate microaggregation": _case(
        "optimal univariate microaggregation", NUMBERS, [LINKAGE], parameters={"k": 4}
    ),
    "t-close microaggregation": _case("t-close microaggregation", {}, parameters={"t": 0.5, "sensitive": "illness"}),
    "differential privacy": _case(
        "differential privacy", {**NOTHING, "age": AGE, "job": JOB, "size": SIZE}, [PRIVATE], parameters=BOUNDS
    ),
    "semantic exponential mechanism": _case("semantic exponential mechanism", {**NOTHING, "job": JOB}, [PRIVATE]),
    "randomized response": _case("randomized response", {**NOTHING, "size": SIZE}, [PRIVATE]),
    "noisy numbers": _case("noisy numbers", {**NOTHING, "age": AGE}, [PRIVATE], parameters=BOUNDS),
    "set microaggregation": _case("set microaggregation", SETS),
    "apriori sets": _case("apriori sets", SETS, [{"model": "k^m-anonymity", "k": 4, "m": 2, "column": "likes"}]),
    "top-down sets": _case("top-down sets", SETS),
    "disassociation": _case("disassociation", SETS, [PIECES]),
    "semantic disassociation": _case("semantic disassociation", SETS, [PIECES]),
}
"""One project for every method, by the name that project files use."""

DIVERSE = {"model": "l-diversity", "l": 2, "column": "illness"}
FROM_FILE = {"job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"}}
EVERYBODY = {"path": "everybody.csv"}

OTHERS: dict[str, dict[str, Any]] = {
    "distinct l-diversity": _case("optimal", {}, [K, DIVERSE]),
    "entropy l-diversity": _case("mondrian", {}, [K, {**DIVERSE, "form": "entropy"}]),
    "recursive l-diversity": _case("optimal", {}, [K, {**DIVERSE, "form": "recursive", "c": 3.0}]),
    "t-closeness": _case("mondrian", {}, [K, {"model": "t-closeness", "t": 0.4, "column": "illness"}]),
    "k-map": _case("optimal", {}, [{"model": "k-map", "k": 4}], population=EVERYBODY),
    "delta-presence": _case(
        "optimal", {}, [{"model": "delta-presence", "lower": 0.0, "upper": 0.9}], population=EVERYBODY
    ),
    "maximum risk": _case("optimal", {}, [{"model": "maximum risk", "threshold": 0.2}]),
    "average risk": _case("optimal", {}, [{"model": "average risk", "threshold": 0.2}]),
    "persons": _case("optimal", {"id": {"role": "person"}}, source="visits.csv"),
    "weights": _case("optimal", {"many": {"role": "weight", "kind": "numeric"}}),
    "hierarchy from a file": _case("datafly", FROM_FILE),
    "weighted columns": _case("optimal", {"job": {**JOB, "weight": 5.0}, "age": {**AGE, "weight": 0.5}}),
    "masked codes": _case("optimal", {"town": {"role": "quasi-identifier", "kind": "code"}}),
    "empty cells are a category": _case("optimal", source="holes.csv"),
    "empty cells match everything": _case(
        "local suppression",
        {name: {**BASE[name], "missing": "wildcard"} for name in ("age", "job", "size")},
        source="holes.csv",
    ),
    "suppressed records are kept": _case("samarati", release={"suppressed": "keep", "suppression": 0.3}),
    "suppressed records are dropped": _case("samarati", release={"suppressed": "drop", "suppression": 0.3}),
    "words of a taxonomy file": _case(
        "semantic incognito",
        {**WORDS, "illness": {"role": "quasi-identifier", "taxonomy": "illnesses.obo", "hierarchy": "auto"}},
    ),
    "parquet": _case("datafly", release={"file": "people.parquet"}),
    "json lines": _case("datafly", release={"file": "people.jsonl"}),
    "semicolons": _case("datafly", release={"delimiter": ";", "spreadsheet_safe": False}),
    "rows in random order": _case("datafly", release={"shuffle": True}),
    "steps in a row": _case(
        "optimal",
        steps=[
            {"name": "sampling", "parameters": {"share": 0.8}},
            {"name": "top and bottom coding", "columns": ["age"], "parameters": {"share": 0.1}},
            {"name": "global recoding", "columns": ["job"], "parameters": {"level": 1}},
            {"name": "noise on numbers", "columns": ["pay"], "parameters": {"alpha": 0.3, "correlated": False}},
        ],
    ),
    "two sets beside others": _case(
        "datafly", WITH_SETS, set_method={"name": "set microaggregation", "parameters": {"k": 4}}
    ),
}
"""Projects that use what else a project file can say, by what they use."""
