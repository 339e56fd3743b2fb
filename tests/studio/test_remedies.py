"""Every finding of the studio has a click that settles it: a change, the field where to decide, or that it is noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsense.errors import FINDINGS, Finding
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.studio.session.plain import as_sentence
from keepsense.studio.session.remedies import ELSEWHERE, SETTLED, note_of, remedies_for
from keepsense.studio.session.session import Session
from keepsense.studio.widgets.figures import of_finding

FIELDS = ("Words of job", "Taxonomy of job", "Role of name", "Promises")
"""Names that fields and parts of pages have, on the table below."""

PROMISES = [
    {"model": "k-anonymity", "k": 5},
    {"model": "l-diversity", "l": 2, "column": "illness"},
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobs, ills = ("nurse", "clerk", "pilot", "baker"), ("flu", "cold", "asthma")
    rows = [f"p{i},{20 + i % 30},{jobs[i % 4]},{ills[i % 3]},{ills[i % 2]}" for i in range(60)]
    file = tmp_path_factory.mktemp("remedies") / "people.csv"
    file.write_text("\n".join(["name,age,job,illness,worry", *rows, ""]), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def session(table: Path) -> Iterator[Session]:
    with Session.open(table) as opened:
        opened.set_role("worry", "sensitive")
        yield opened


def _about(code: str) -> str:
    """What a finding of a code would be about, on the table."""
    if code in ("W401", "W402", "W212", "W406"):
        return "release"
    if code.startswith("W5"):
        return "promise"
    named = {"W403": "name", "W404": "worry", "W411": "illness", "W412": "illness, worry"}
    return named.get(code, "worry" if code.startswith("E4") else "job")


def test_what_to_do_names_no_key_of_a_file_and_no_command() -> None:
    for code in SETTLED:
        told = of_finding(code)
        assert not re.search(r"[`=]", told.meaning + told.how), code


def test_findings_of_a_table_are_sentences_without_keys_or_commands(tmp_path: Path) -> None:
    jobs, ills = ("nurse", "coach", "clerk", "xyzzy", "pilot"), ("flu", "", "asthma", "angina")
    rows = [f"{20 + i * 7 % 41},{jobs[i % 5]},{ills[i % 4]},{ills[i % 3]}" for i in range(120)]
    (tmp_path / "people.csv").write_text("\n".join(["age,occupation,diagnosis,illness", *rows]), encoding="utf-8")
    with Session.open(tmp_path / "people.csv") as session:
        for name in ("diagnosis", "illness"):
            session.set_role(name, "sensitive")
        diverse = [{"model": "l-diversity", "l": 2, "column": name} for name in ("diagnosis", "illness")]
        session.set_promises([PROMISES[0], *diverse])
        session.preview()
        found = session.findings()
    assert {"W101", "W411", "W412"} <= {advice.code for advice in found}
    for advice in found:
        text = as_sentence(advice.where, advice.message)
        assert text.endswith((".", "?")), text
        assert not re.search(r"[`=]|keepsense |mapping file", text), text


def test_every_code_is_settled_in_the_studio_or_told_elsewhere() -> None:
    assert set(SETTLED) | set(ELSEWHERE) == set(FINDINGS)
    assert not set(SETTLED) & set(ELSEWHERE)
    assert all(settling.does for settling in SETTLED.values())


@pytest.mark.parametrize("code", sorted(SETTLED))
def test_a_click_settles_each_code(code: str, session: Session) -> None:
    session.set_promises([dict(promise) for promise in PROMISES])
    if code == "W502":
        session.set_k(3)
    elif code == "W511":
        likeness = PRIVACY["beta-likeness"].section(k=5, column="illness")
        session.set_promises([PROMISES[0], likeness])
    finding = Finding(code, _about(code), "something is to be looked at")
    clicks = remedies_for(session.project, finding)
    assert clicks, "there is a click"
    assert clicks[0].text
    for click in clicks:
        if click.step:
            assert click.field in FIELDS, "it leads to a field by its name"
            continue
        before = session.text
        session.settle(click)
        if click.notes:
            assert not finding.is_error, "an error is not settled by knowing of it"
            assert click.notes == note_of(finding)
            assert session.text == before
            continue
        assert session.text != before, "it changes the project"
        assert session.undoes == click.text
        session.undo()
        assert session.text == before, "one undo takes it back"


def test_what_was_noted_is_not_shown_again_until_it_says_something_else(session: Session) -> None:
    session.set_promises([{"model": "k-anonymity", "k": 30}])
    (few,) = [advice for advice in session.findings() if advice.code == "W504"]
    (noted,) = [remedy for remedy in few.remedies if remedy.notes]
    session.settle(noted)
    assert "W504" not in [advice.code for advice in session.findings()]
    session.set_k(31)
    assert "W504" in [advice.code for advice in session.findings()]


def test_a_method_that_cannot_do_it_is_replaced_by_the_one_that_its_message_names(table: Path) -> None:
    from dataclasses import replace

    from keepsense.studio.session.advice import findings

    with Session.open(table) as opened:
        opened.set_method("optimal")
        shown = replace(opened.preview(), problem="there are too many ways; use the method anytime, which goes on")
        (advice,) = [found for found in findings(opened.job(), shown) if found.code == "E"]
        assert [remedy.text for remedy in advice.remedies] == ["Use Anytime search"]
        opened.settle(advice.remedies[0])
        assert opened.project.method.name == "anytime"
