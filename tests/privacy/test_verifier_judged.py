"""The verifier against a slow, obvious judge: every model of the list, with missing cells as category and wildcard."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from tests import judge

from keepsense.arrays import Rows
from keepsense.counts import Histogram
from keepsense.privacy import earth_movers_distance
from keepsense.privacy.l_diversity import RecursiveDiversity
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.verification.check_result import Check
from keepsense.verification.closeness_check import class_distances
from keepsense.verification.verifier import find_check, verify, verify_sets

DISEASES = ("flu", "cold", "ulcer", "colic")
NEAR = [[0, 0.2, 1, 1], [0.2, 0, 0.9, 1], [1, 0.9, 0, 0.3], [1, 1, 0.3, 0]]
ABOVE = {"flu": "lung", "cold": "lung", "ulcer": "gut", "colic": "gut"}
EVIDENCE = {
    "hierarchical": {"rows": [(disease, above, "*") for disease, above in ABOVE.items()]},
    "links": {"chains": {disease: [disease, above] for disease, above in ABOVE.items()}, "height": 2},
    "semantic": {"values": list(DISEASES), "matrix": NEAR},
    "ordered": {"order": list(DISEASES)},
}


def _closeness(ground, column="disease"):
    return lambda rng: {
        "model": "t-closeness",
        "t": rng.choice([0.1, 0.25, 0.3, 0.5]),
        "column": column,
        "ground": ground,
        "beside": rng.choice([[], [], ["maybe"]]),
    }


def _diversity(form, **draws):
    return lambda rng: {
        "model": "l-diversity",
        "form": form,
        "column": "maybe",
        "beside": rng.choice([[], [], ["half"]]),
        **{name: rng.choice(choices) for name, choices in draws.items()},
    }


def _sized(name, **draws):
    return lambda rng: {"model": name, **{key: rng.choice(choices) for key, choices in draws.items()}}


def _shared(name, **draws):
    return lambda rng: {
        "model": name,
        "column": rng.choice(["disease", "half", "half"]),
        "beside": rng.choice([[], [], ["pay"]]) if name == "beta-likeness" else [],
        **{key: rng.choice(choices) for key, choices in draws.items()},
    }


CASES = {
    "k-anonymity": [_sized("k-anonymity", k=[1, 2, 3, 4, 8])],
    "probabilistic k-anonymity": [_sized("probabilistic k-anonymity", k=[1, 2, 3, 4, 8])],
    "(X,Y)-anonymity": [_sized("(X,Y)-anonymity", k=[1, 2, 3], person=["person"])],
    "maximum risk": [_sized("maximum risk", threshold=[0.2, 1 / 3, 0.34, 0.5, 0.99])],
    "average risk": [_sized("average risk", threshold=[0.1, 0.2, 0.25, 1 / 3, 0.5, 0.6])],
    "strict-average risk": [_sized("strict-average risk", threshold=[0.2, 0.25, 1 / 3, 0.5, 0.6], k=[1, 2, 3])],
    "estimated k-map": [
        _sized("estimated k-map", k=[3, 8, 20], fraction=[0.02, 0.1, 0.3, 0.9], estimator=["poisson"]),
        _sized("estimated k-map", k=[3, 8, 20], fraction=[0.02, 0.1, 0.3], estimator=["zero-truncated poisson"]),
    ],
    "population uniqueness": [
        _sized(
            "population uniqueness",
            threshold=[0.0, 0.02, 0.05, 0.1, 0.15],
            fraction=[0.1, 0.3, 0.7, 1.0],
            estimator=["zayatz"],
        )
    ],
    "l-diversity": [
        _diversity("distinct", l=[1, 2, 3], missing=["value", "unknown"]),
        _diversity("entropy", l=[1, 1.5, 1.8, 2], missing=["value", "unknown"]),
        _diversity("recursive", l=[1, 2, 3], c=[0.3, 0.5, 1.0, 1.1, 2.0, 3], missing=["value", "unknown"]),
    ],
    "t-closeness": [
        *map(_closeness, [*EVIDENCE, "equal"]),
        _closeness("ordered", "pay"),
        _closeness("numeric", "pay"),
    ],
    "beta-likeness": [
        _shared("beta-likeness", form=["basic"], beta=[0.3, 0.5, 1.0, 2.0]),
        _shared("beta-likeness", form=["enhanced"], beta=[0.3, 0.5, 1.0, 2.0]),
        _shared("beta-likeness", form=["concepts"], beta=[0.5, 1.0, 2.0], column=["disease", "maybe"]),
    ],
    "delta-disclosure": [
        _shared("delta-disclosure", delta=[0.5, 1.0, 1.5, 2.0, 3]),
        _shared("delta-disclosure", form=["concepts"], delta=[1.0, 1.5, 2.0, 3], column=["disease", "maybe"]),
    ],
    "(alpha,k)-anonymity": [
        _shared("(alpha,k)-anonymity", alpha=[0.5, 0.6, 0.75, 1.0], k=[1, 2, 3]),
        _shared("(alpha,k)-anonymity", alpha=[0.2, 0.5, 0.6], k=[1, 2], values=[["flu"], ["flu", "ulcer"]]),
    ],
    "k-map": [_sized("k-map", k=[2, 3, 5, 20])],
    "delta-presence": [_sized("delta-presence", lower=[0.0, 0.0, 0.3], upper=[0.5, 2 / 3, 0.9, 1.0])],
}
OF_SETS = {"k^m-anonymity", "k^m-anonymity of pieces"}
OF_MECHANISMS = {"differential privacy", "approximate differential privacy", "linkage risk"}


def test_every_model_is_judged():
    assert set(CASES) | OF_SETS | OF_MECHANISMS == set(PRIVACY)
    assert set(CASES) | OF_SETS == set(judge.JUDGES)
    for name in OF_MECHANISMS:
        assert find_check(name) is find_check(name, of_sets=True) is None


def table(rng, most):
    """Rows with gaps; few different cells, so that promises hold as often as not."""
    width = rng.choice([1, 1, 2])
    hidden = {"x": "*", "y": "*"} if rng.random() < 0.5 else {}
    return [
        {
            "x": rng.choice(["a", "b", None][: width + 1] if rng.random() < 0.9 else [None]),
            "y": rng.choice(["c", None] if width == 1 else ["c", "d", None]),
            "disease": rng.choice(DISEASES[: rng.choice([2, 3, 4])]),
            "maybe": rng.choice([*DISEASES[:2], None, " "]),
            "half": rng.choice("12"),
            "pay": str(rng.choice([1, 2.5, 7, 12])),
            "person": rng.choice("pqrst"),
            **(hidden if rng.random() < 0.2 else {}),
        }
        for _ in range(rng.randint(1, most))
    ]


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("tables", [8, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CASES)
def test_the_verifier_agrees_with_the_judge(name, tables):
    """Some of the tables keep the promise and some break it, so that either error would show."""
    rng = random.Random(name)
    verdicts = Counter()
    for number, wild in product(range(tables), ([], ["x", "y"], ["x"])):
        rows = table(rng, 20)
        extra = [*rows * rng.randint(0, 2), *(row for _ in range(rng.randint(0, 2)) for row in table(rng, 20))]
        # opening a table takes longer than checking a promise: each is asked for a few
        promises = [case(rng) for case in CASES[name] for _ in range(max(1, 3 // len(CASES[name])))]
        evidence = {"disease": {key: value for part in EVIDENCE.values() for key, value in part.items()}}
        evidence["maybe"] = {"chains": {**EVIDENCE["links"]["chains"], " ": ["gut"]}}
        verification = verify(
            columns(rows),
            promises,
            quasi_identifiers=["x", "y"],
            missing=wild,
            population=columns([{"x": row["x"], "y": row["y"]} for row in rows + extra]),
            evidence=evidence,
        )
        case = judge.Case(rows, ["x", "y"], wild=wild, population=rows + extra, evidence=evidence)
        for promise, check in zip(promises, verification.checks, strict=True):
            expected = judge.holds(promise, case)
            assert check.holds == expected, (number, promise, wild, rows, extra)
            verdicts[expected] += 1
    assert min(verdicts[True], verdicts[False]) > sum(verdicts.values()) / 8, "the tables decide nothing"


@pytest.mark.parametrize("tables", [25, pytest.param(150, marks=pytest.mark.long)])
def test_sets_are_judged_too(tables):
    rng = random.Random("sets")
    verdicts = Counter()
    for _ in range(tables):
        sets = [rng.sample(["milk", "tea", "rum", "*"], rng.randint(0, 3)) for _ in range(rng.randint(1, 14))]
        k, m = rng.randint(1, 3), rng.randint(1, 3)
        promises = [{"model": "k^m-anonymity", "k": k, "m": m, "column": "basket"}, {"model": "k-anonymity", "k": k}]
        combined, whole = verify_sets(sets, promises).checks
        rows = [{"basket": tuple(sorted(items))} for items in sets]
        for promise, check in zip(promises, (combined, whole), strict=True):
            expected = judge.holds(promise, judge.Case(rows, ["basket"]))
            assert check.holds == expected, (promise, sets)
            verdicts[expected] += 1
    assert min(verdicts.values()) > 5


@pytest.mark.parametrize("tables", [60, pytest.param(200, marks=pytest.mark.long)])
def test_pieces_of_sets_are_judged_too(tables):
    """Pieces that mostly keep to their cluster; some hold an item of another, or say nothing of theirs."""
    rng = random.Random("pieces")
    verdicts = Counter()
    for _ in range(tables):
        sets = []
        for _ in range(rng.randint(1, 3)):
            cluster = rng.choice("12")
            kinds = [
                {
                    f"#{cluster}",
                    *rng.sample([f"{cluster}.{p} {i}" for p, i in ("1a", "1b", "2c", "2d")], rng.randint(0, 3)),
                }
                for _ in range(2)
            ]
            kinds = [held | ({f"{cluster}+ e"} if rng.random() < 0.4 else set()) for held in kinds]
            sets += [rng.choice(kinds) for _ in range(rng.randint(2, 8))]
        if rng.random() < 0.1:
            sets.append(rng.choice([{"#1", "2.1 a"}, {"a"}, {"#1", "#2"}, set()]))
        promise = {
            "model": "k^m-anonymity of pieces",
            "k": rng.randint(1, 3),
            "m": rng.randint(1, 3),
            "column": "basket",
        }
        (check,) = verify_sets([sorted(held) for held in sets], [promise]).checks
        expected = judge.holds(promise, judge.Case([{"basket": held} for held in sets], ["basket"]))
        assert check.holds == expected, (promise, sets)
        verdicts[expected] += 1
    assert min(verdicts[True], verdicts[False]) > tables / 8, "the tables decide nothing"


def test_presence_with_wildcards_counts_every_record_that_fits():
    """Both records fit either combination: two of two, though each has one record of its own."""
    rows, promise = {"x": ["a", None]}, {"model": "delta-presence", "lower": 0.0, "upper": 0.5}
    assert not verify(rows, [promise], quasi_identifiers=["x"], missing="wildcard", population=rows).ok


def test_presence_with_wildcards_holds_for_people_whom_no_record_equals():
    """(a, b) fits two records and three people, whatever the classes of the release say."""
    rows = {"x": ["a", None], "y": [None, "b"]}
    population = {"x": ["a", None, "a"] + ["a", "e"] * 10, "y": [None, "b", "b"] + ["d", "b"] * 10}
    promise = {"model": "delta-presence", "lower": 0.0, "upper": 0.5}
    verification = verify(rows, [promise], quasi_identifiers=["x", "y"], missing="wildcard", population=population)
    assert [finding.message for finding in verification.findings] == [
        "people of the population whose chance to be in the table is out of bounds: 1"
    ]


def checked(promise, rows) -> Check:
    return verify(columns(rows), [promise], quasi_identifiers=["x"]).checks[0]


@pytest.mark.parametrize(("head", "tail", "c"), [(7, 100, 0.07), (14, 100, 0.14), (57, 100, 0.57)])
def test_recursive_diversity_is_exact(head, tail, c):
    """The commonest value weighs exactly c times the rest; c times the rest is rounded upwards or downwards."""
    counts = [head, *[1] * tail]
    rows = [{"x": "a", "d": str(value)} for value, n in enumerate(counts) for _ in range(n)]
    classes = Histogram(
        tuple(range(len(counts))), Rows.from_pairs([0] * len(counts), range(len(counts)), 1), np.array(counts)
    )
    for promised, keeps in ((c, False), (c + 1e-6, True)):
        promise = {"model": "l-diversity", "form": "recursive", "c": promised, "l": 2, "column": "d"}
        assert checked(promise, rows).holds is keeps
        model = RecursiveDiversity(promised, 2, "d")
        assert model.satisfied(np.array([sum(counts)]), {"d": classes}).tolist() == [keeps]


def test_small_thresholds_are_exact():
    """One over 99,995 differs from one over 100,000 by less than the slack for rounding."""
    rows = {"x": ["a"] * 99_995}
    assert not verify(rows, [{"model": "maximum risk", "threshold": 0.00001}], quasi_identifiers=["x"]).ok
    assert not verify(rows, [{"model": "average risk", "threshold": 0.00001}], quasi_identifiers=["x"]).ok


@pytest.mark.parametrize("metric", [True, False])
def test_meaning_is_compared_at_billions_of_rows(metric):
    """Counts of 16 billion rows give the distances that the same shares give in a small table."""
    rng = np.random.default_rng(3)
    at = rng.random((5, 2))
    matrix = np.sqrt(((at[:, None] - at[None]) ** 2).sum(-1)) if metric else rng.random((5, 5))
    np.fill_diagonal(matrix, 0.0)
    matrix /= matrix.max()
    small = rng.integers(1, 40, (3, 5))
    reference = small.sum(axis=0)
    times = 16_000_000_000 // int(reference.sum())

    def histogram(counts):
        row, code = np.nonzero(counts)
        return Histogram(tuple("abcde"), Rows.from_pairs(row, code, len(counts)), counts[row, code].astype(np.int64))

    expected = earth_movers_distance.exact(histogram(small), reference, matrix)
    big = histogram(small * times)
    assert earth_movers_distance.exact(big, reference * times, matrix) == pytest.approx(expected, abs=1e-12)
    low, high = earth_movers_distance.bounds(big, reference * times, matrix)
    assert (low <= expected + 1e-12).all()
    assert (high >= expected - 1e-12).all()
    for threshold in (*(expected - 1e-6), *(expected + 1e-6)):
        assert (
            earth_movers_distance.within(big, reference * times, matrix, threshold).tolist()
            == (expected <= threshold).tolist()
        )
    rows = [(i, "abcde"[j], int(small[i, j]) * times) for i in range(3) for j in range(5)]
    whole = {"abcde"[j]: int(reference[j]) * times for j in range(5)}
    evidence = {"values": list("abcde"), "matrix": matrix.tolist()}
    found = class_distances(rows, whole, {"ground": "semantic"}, evidence, 0.0)
    assert [found[i] for i in range(3)] == pytest.approx(expected, abs=1e-9)
