"""Cuts that a publisher gives a division: they are made, the promise holds, and what cannot be cut is refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.dimension import dimensions
from keepsense.methods.generalize.infogain_mondrian import infogain_mondrian
from keepsense.methods.generalize.lsd_mondrian import lsd_mondrian
from keepsense.methods.generalize.mondrian import mondrian
from keepsense.methods.generalize.multidimensional_template import divide
from keepsense.methods.generalize.semantic_mondrian import semantic_mondrian, together
from keepsense.methods.generalize.user_cuts import CannotCut
from keepsense.methods.method import methods
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Event
from keepsense.recoding import Cells
from keepsense.release.example import example_job

JOBS = Hierarchy.of_rows(
    [
        ("nurse", "medic", "*"),
        ("surgeon", "medic", "*"),
        ("clerk", "office", "*"),
        ("typist", "office", "*"),
    ],
    name="job",
)
CUTS = {"whole": "sex", "1": "job", "2": "age", "12": "age"}
WAYS: dict[str, Callable[..., Cells]] = {
    "mondrian": mondrian,
    "given order": partial(mondrian, order="given"),
    "semantic mondrian": semantic_mondrian,
    "infogain mondrian": partial(infogain_mondrian, target="illness"),
    "lsd mondrian": partial(lsd_mondrian, target="salary"),
}


def people(rows: int = 600, seed: int = 0) -> Counts:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    return Counts.of(
        {
            "age": age.tolist(),
            "job": rng.choice(JOBS.leaves, rows).tolist(),
            "sex": rng.integers(0, 2, rows).tolist(),
        },
        histograms={"illness": rng.choice(["flu", "cold", "gout"], rows, p=[0.7, 0.2, 0.1]).tolist()},
        sums={"salary": (100.0 * age + rng.normal(size=rows)).tolist()},
    )


class Steps:
    """Hears at which column each part was cut, and which tuples are in it."""

    every_step = True

    def __init__(self) -> None:
        self.parts: dict[frozenset[int], str] = {}
        self.columns: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        if event.name == "whole":
            self.parts[frozenset(event.details["part"][0].tolist())] = "whole"
        elif event.name == "cut":
            sides = [frozenset(tuples.tolist()) for tuples, _ in event.details["parts"]]
            part = self.parts[sides[0] | sides[1]]
            self.columns[part] = event.details["column"]
            way = "" if part == "whole" else part
            self.parts |= {side: f"{way}{number}" for number, side in enumerate(sides, 1)}


def classes(cells: Cells) -> dict[tuple[int, ...], list[int]]:
    members = defaultdict(list)
    for source, codes in zip(cells.source.tolist(), cells.codes.tolist(), strict=True):
        members[tuple(codes)].append(source)
    return members


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("models", [[KAnonymity(5)], [KAnonymity(5), DistinctDiversity(2, "illness")]])
def test_given_cuts_are_made_and_every_class_lies_on_one_side_of_them(way: str, models: list[Model]) -> None:
    counts, heard = people(), Steps()
    cells = WAYS[way](counts, {"job": JOBS}, models, cuts=CUTS, listener=heard)
    assert {part: heard.columns[part] for part in CUTS} == CUTS
    sides = [part for part in ("11", "121", "122", "21", "22") if part in heard.parts.values()]
    assert len(sides) == 5
    side_of = {t: part for tuples, part in heard.parts.items() if part in sides for t in tuples}
    assert len(side_of) == len(counts)
    for members in classes(cells).values():
        assert len({side_of[t] for t in members}) == 1
    after = counts.recoded(cells.values, cells.codes[np.argsort(cells.source)])
    assert after.weights.min() >= 5
    if len(models) > 1:
        assert ((after.histograms["illness"].table() > 0).sum(axis=1) >= 2).all()
    again = WAYS[way](counts, {"job": JOBS}, models, cuts=CUTS)
    assert classes(again) == classes(cells), "who watches changes nothing"


@pytest.mark.parametrize("cuts", [{}, {"whole": "age"}, CUTS])
@pytest.mark.parametrize("rows", [60, 600])
def test_compiled_loops_go_on_below_given_cuts_as_the_general_form_does(cuts: Mapping[str, str], rows: int) -> None:
    counts, models = people(rows, 3), [KAnonymity(3), DistinctDiversity(2, "illness")]
    space = dimensions(counts, {"job": JOBS})
    score = together(space, [1.0] * 3)
    plain, compiled = (
        divide(counts, space, models, score=each, order="best", cuts=cuts) for each in (lambda c: score(c), score)
    )
    assert classes(plain) == classes(compiled)
    assert plain.info["classes"] == compiled.info["classes"]


def test_relaxed_cuts_can_be_given_too() -> None:
    counts = people()
    cells = mondrian(counts, {"job": JOBS}, k=5, relaxed=True, cuts={"whole": "sex"})
    after = cells.apply(counts)
    assert after.total == counts.total
    assert after.weights.min() >= 5


def test_what_is_given_loses_more_than_what_is_chosen_or_as_much() -> None:
    counts = people()
    own = semantic_mondrian(counts, {"job": JOBS}, k=5, exchange=False)
    heard = Steps()
    semantic_mondrian(counts, {"job": JOBS}, k=5, exchange=False, listener=heard)
    again = semantic_mondrian(counts, {"job": JOBS}, k=5, exchange=False, cuts={"whole": heard.columns["whole"]})
    assert classes(again) == classes(own), "the cut that it would have made itself changes nothing"


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        ({"whole": "agee"}, "cut at column 'agee', which is no quasi-identifier; .* Did you mean age?"),
        ({"whole": "age", "13": "job"}, "'13' is no part of the table; write whole for the table"),
        ({"12": "job"}, "part 12 is there once part 1 is cut; say at which column"),
        ({"1": "job"}, "part 1 is there once the whole table is cut"),
    ],
)
def test_cuts_that_make_no_sense_are_refused(cuts: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        mondrian(people(), {"job": JOBS}, k=5, cuts=cuts)


def refusal(counts: Counts, cuts: dict[str, str], *models: Model) -> CannotCut:
    with pytest.raises(Infeasible) as refused:
        mondrian(counts, {"job": JOBS}, models, cuts=cuts)
    assert isinstance(refused.value, CannotCut)
    assert "leave that cut to the method" in refused.value.remedies
    return refused.value


def test_a_cut_that_cannot_be_made_is_refused_with_the_reason_and_a_remedy() -> None:
    counts = people()
    alike = refusal(counts, {"whole": "sex", "1": "sex"}, KAnonymity(5))
    assert str(alike) == "cuts: part 1 cannot be cut at column 'sex': nothing tells its records apart there"
    few = refusal(counts, {"whole": "sex"}, KAnonymity(400))
    assert few.why == "one of its parts would have fewer than 400 records"
    table: Any = {"age": [20] * 10 + [50] * 10, "sex": [0, 1] * 10}
    ill = Counts.of(table, histograms={"illness": ["flu"] * 10 + ["cold", "gout"] * 5})
    broken = refusal(ill, {"whole": "age"}, KAnonymity(2), DistinctDiversity(2, "illness"))
    assert "would break the promise that every class holds at least 2 different values of illness" in broken.why
    assert broken.column == "age"


def test_every_division_takes_cuts_and_a_project_file_can_give_them() -> None:
    divisions = [method for method in methods(in_projects=True) if method.family == "multidimensional recoding"]
    assert {method.name for method in divisions} == set(WAYS) - {"given order"}
    job = example_job(method={"name": "mondrian", "parameters": {"cuts": {"whole": "job"}}})
    (cells,) = job.method.run(job, job.project.method.parameters)
    assert isinstance(cells, Cells)
    assert "*" not in cells.values[cells.names.index("job")]
    assert cells.apply(job.counts).weights.min() >= job.hidden_among
    wrong = example_job(method={"name": "mondrian", "parameters": {"cuts": ["job"]}})
    with pytest.raises(BadInput, match="parameter 'cuts' must be"):
        wrong.method.run(wrong, wrong.project.method.parameters)
