"""The attacks themselves: they find people in a table as it is, and no more than they should in classes of five."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from experiments.attack import run as attack
from experiments.attack.attacks import Rate, Seen, inference, linkability, linkage, risk, singling_out
from experiments.attack.data import AGE, Table

from keepsense.methods.method import METHODS, methods
from keepsense.sample_people import people

PEOPLE = 400
CLASSES = 80


def seen(label_of) -> tuple[Seen, np.ndarray, np.ndarray]:
    """People numbered through two columns; labels are what becomes of a value."""
    values = np.arange(PEOPLE)
    known = np.stack([values, values], axis=1)
    labels = np.array([label_of(value) for value in values])
    near = np.ones((labels.max() + 1, PEOPLE))
    near[labels, values] = 0.0
    secrets = values % 7
    return Seen(np.stack([labels, labels], axis=1), secrets, values, [near, near]), known, secrets


def test_a_table_as_it_is_gives_everybody_away():
    release, known, secrets = seen(lambda value: value)
    rng = np.random.default_rng(1)
    assert linkage(release, known, rng).share == 1
    assert linkability(release, known, rng).share == 1
    assert inference(release, known, secrets, rng).share == 1
    assert singling_out(release, known, secrets, with_secret=False).share == 1


def test_classes_of_five_give_one_in_five():
    release, known, secrets = seen(lambda value: value % CLASSES)
    rng = np.random.default_rng(1)
    low, high = linkage(release, known, rng).interval
    assert low < 1 / 5 < high
    low, high = linkability(release, known, rng).interval
    assert low < 1 / 5 < high
    assert singling_out(release, known, secrets, with_secret=False).right == 0
    assert singling_out(release, known, secrets, with_secret=True).share > 0.9  # five different secrets each


def test_intervals_and_risks():
    assert Rate(10, 50).interval == pytest.approx((0.1124, 0.3304), abs=1e-4)  # Wilson 1927
    assert Rate(0, 100).interval[0] == 0
    assert risk(Rate(60, 100), Rate(20, 100)) == pytest.approx(0.5)
    assert risk(Rate(10, 100), Rate(20, 100)) == 0


def test_every_family_is_attacked():
    of = {METHODS[name].family or name for name in attack.ATTACKED}
    assert {found.family or found.name for found in methods(in_projects=True)} <= of


def drawn(number: int, rng: np.random.Generator) -> list[dict[str, str]]:
    return [{name: str(cell) for name, cell in row.items()} for row in people(number, rng).to_pylist()]


TABLE = Table("people", {"sex": {}, "age": AGE, "place": {}}, "hobby", drawn)


def test_a_release_is_attacked_and_judged_by_its_bar():
    outcome = attack._attacked(TABLE, METHODS["mondrian"], 120)
    assert outcome.holds
    assert outcome.line[-1] == "holds"
    assert len(outcome.line) == len(attack.HEADER)


def test_people_who_are_linked_too_often_fail_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A method that promises k and releases the table as it is."""
    monkeypatch.setattr(attack, "ATTACKED", ("mondrian",))
    monkeypatch.setattr(attack, "ROWS", 120)
    monkeypatch.setattr(attack, "tables", lambda: [TABLE])
    attack.run(tmp_path)
    assert "holds" in (tmp_path / "attacks.csv").read_text(encoding="utf-8")
    as_it_is = [{**row, "row": str(at)} for at, row in enumerate(drawn(240, np.random.default_rng(5))[:120])]
    monkeypatch.setattr(attack, "_released", lambda *_: as_it_is)
    with pytest.raises(SystemExit, match="more often than one in 5: mondrian on people"):
        attack.run(tmp_path)


def test_the_page_shows_what_was_attacked():
    page = attack.PAGE.read_text(encoding="utf-8")
    assert attack.MARKS.search(page)
    lines = re.findall(r"^\| (?!table|---)(.+) \|$", page, re.MULTILINE)
    assert {line.split(" | ")[1] for line in lines} == {attack.AS_IT_IS, *attack.ATTACKED}
    assert not any("BROKEN" in line for line in lines)
