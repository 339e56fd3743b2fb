"""One opened table and its project: drafted or taken over, changed step by step, undone, and saved with care."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from keepsense.errors import BadInput, KeepsenseError
from keepsense.project.project_file import read_project
from keepsense.studio.session.session import Session

PEOPLE = "name,age,job,illness\n" + "".join(
    f"p{i},{20 + i % 30},{('nurse', 'clerk', 'pilot', 'baker')[i % 4]},{('flu', 'cold', 'asthma')[i % 3]}\n"
    for i in range(60)
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE, encoding="utf-8")
    return file


@pytest.fixture
def session(table: Path) -> Iterator[Session]:
    with Session.open(table) as opened:
        yield opened


def test_a_table_gets_a_draft_beside_it_with_a_reason_for_every_guess(session: Session, table: Path) -> None:
    assert session.saved
    assert session.file == table.with_name("keepsense.toml")
    assert read_project(session.file) == session.project
    assert {column.name: column.role for column in session.columns}["age"] == "quasi-identifier"
    assert all(column.reason and column.colour for column in session.columns)


def test_the_first_rows_are_those_of_the_file(session: Session) -> None:
    head = session.head(3)
    assert head.names == ("name", "age", "job", "illness")
    assert head.cells[1] == ("p1", "21", "clerk", "cold")


def test_a_project_that_is_there_is_taken_over(session: Session, table: Path) -> None:
    session.set_role("age", "insensitive")
    for path in (table, session.file):
        with Session.open(path) as again:
            assert again.project == session.project
            age = next(column for column in again.columns if column.name == "age")
            assert age.guessed == "quasi-identifier"
            assert age.reason.startswith("you chose it")


def test_a_project_about_another_table_stays_as_it_is(session: Session, table: Path) -> None:
    other = table.with_name("other.csv")
    other.write_text(PEOPLE, encoding="utf-8")
    with Session.open(other) as second:
        assert second.file.name == "keepsense-other.toml"
        assert second.project.release.folder != session.project.release.folder
    assert session._saved.differs is False


def test_a_frame_and_the_sample_are_opened_too(tmp_path: Path) -> None:
    with Session.of_frame({"age": [31, 35, 40] * 9}, tmp_path / ".") as of_frame:
        assert of_frame.rows == 27
    (tmp_path / "sample").mkdir()
    with Session.sample(tmp_path / "sample", rows=50) as sample:
        assert sample.name == "people.csv"


@pytest.mark.parametrize("name", ["nothing.csv", "nothing.toml"])
def test_what_is_not_there_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="there is no such"):
        Session.open(tmp_path / name)


def test_every_change_can_be_undone_and_done_again_and_is_on_the_disk(session: Session) -> None:
    states = [session.project]
    for change in (
        lambda: session.set_role("illness", "insensitive"),
        lambda: session.set_kind("age", "ordinal"),
        lambda: session.set_taxonomy("job", None),
        lambda: session.set_weight("job", 3),
        lambda: session.set_k(7),
        lambda: session.set_method("mondrian", {"relaxed": True}),
        lambda: session.set_parameter("relaxed", False),
        lambda: session.set_suppression(0.1),
    ):
        change()
        assert session.project != states[-1]
        assert read_project(session.file) == session.project
        states.append(session.project)
    for state in reversed(states[:-1]):
        session.undo()
        assert session.project == state == read_project(session.file)
    for state in states[1:]:
        session.redo()
        assert session.project == state
    assert not session.can_redo


def test_roles_bring_the_keys_and_promises_of_a_draft_and_keep_ones_own(session: Session) -> None:
    session.set_weight("job", 3)
    assert any(promise.get("column") == "illness" for promise in session.project.privacy)
    session.set_role("illness", "identifier")
    assert not any(promise.get("column") == "illness" for promise in session.project.privacy)
    session.set_role("illness", "sensitive")
    assert any(promise.get("column") == "illness" for promise in session.project.privacy)
    session.set_role("job", "sensitive")
    assert session.project.columns["job"].weight == 3
    session.set_role("name", "person")
    assert session.project.privacy[0] == {"model": "(X,Y)-anonymity", "k": 5, "person": "name"}
    session.set_role("name", "identifier")
    assert session.project.privacy[0] == {"model": "k-anonymity", "k": 5}


def test_comments_of_the_project_file_stay(session: Session) -> None:
    before = session.text.count("#")
    session.set_k(9)
    session.set_weight("age", 2)
    assert session.text.count("#") >= before - 2  # those of the promises themselves
    assert tomllib.loads(session.text)["privacy"][0]["k"] == 9


@pytest.mark.parametrize(
    "refused",
    [
        lambda session: session.set_role("age", "secret"),
        lambda session: session.set_role("agee", "sensitive"),
        lambda session: session.set_kind("age", "colour"),
        lambda session: session.set_method("magic"),
        lambda session: session.set_weight("age", -1),
        lambda session: session.set_k(0),
        lambda session: session.set_promises([]),
        lambda session: session.set_suppression(2),
        lambda session: session.undo(),
    ],
)
def test_what_is_refused_changes_nothing(session: Session, refused: object) -> None:
    text = session.text
    with pytest.raises(KeepsenseError):
        refused(session)  # type: ignore[operator]
    assert session.text == text
    assert session.file.read_text(encoding="utf-8") == text


def test_two_sessions_do_not_overwrite_each_other(session: Session, table: Path) -> None:
    with Session.open(table) as other:
        other.set_k(8)
        session.set_k(6)
        assert "somebody else" in session.conflict
        assert not session.saved
        assert read_project(session.file).privacy[0]["k"] == 8
        session.reload()
        assert session.saved
        assert session.project.privacy[0]["k"] == 8
        session.undo()
        assert session.project.privacy[0]["k"] == 6
        other.set_k(9)
        other.save(force=True)
        assert read_project(session.file).privacy[0]["k"] == 9
        assert other.saved


def test_listeners_hear_of_changes_until_they_leave(session: Session) -> None:
    heard: list[int] = []
    end = session.listen(lambda: heard.append(session.project.privacy[0]["k"]))
    session.set_k(6)
    session.undo()
    end()
    session.set_k(7)
    assert heard == [6, 5]


def test_steps_are_decided_done_and_stale_again(session: Session) -> None:
    def state(name: str) -> str:
        return next(step.state for step in session.steps if step.name == name)

    for decision in session.decisions:
        session.agree(decision)
    assert session.decisions == ()
    session.confirm("open")
    session.confirm("protect")
    assert (state("open"), state("protect"), state("meaning")) == ("done", "done", "ahead")
    session.set_k(6)
    assert (state("open"), state("protect")) == ("done", "stale")
    session.undo()
    assert state("protect") == "done"


def test_a_step_needs_a_decision_where_something_was_found_and_only_there(session: Session) -> None:
    def states() -> dict[str, str]:
        return {step.name: step.state for step in session.steps}

    assert set(states().values()) <= {"decide", "ahead"}
    session.preview()
    found = {advice.step for advice in session.findings() if not any(remedy.agrees for remedy in advice.remedies)}
    for name, state in states().items():
        assert state == ("decide" if name in found or (name == "open" and session.decisions) else "ahead")
    session.set_k(60)
    session.set_suppression(0)
    session.confirm("protect")
    session.preview()
    stopped = {advice.step for advice in session.findings() if advice.code.startswith("E")}
    assert all(states()[name] == "decide" for name in stopped), "what stands in the way is no step that is done"


def test_a_question_is_settled_by_choosing_a_role(session: Session) -> None:
    session.set_role("illness", "insensitive")
    asked = [decision for decision in session.decisions if not decision.columns]
    assert asked, "nothing is sensitive any more, and that is asked about"
    session.set_role("illness", "sensitive")
    assert not [decision for decision in session.decisions if not decision.columns]


def test_first_rows_do_not_wait_for_a_preview(tmp_path: Path) -> None:
    with Session.sample(tmp_path, rows=60) as session:
        first = session.head()
        seen: list[object] = []
        asking = Thread(target=lambda: seen.append(session.head()), daemon=True)
        with session.bench.lock:  # as a preview holds it
            asking.start()
            asking.join(10)
            assert seen == [first]


def test_closing_ends_a_preview_that_is_being_worked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event, Thread

    from keepsense.progress import Event as Step
    from keepsense.studio.session import session as module
    from keepsense.studio.session.document import Outdated

    begun, ended = Event(), []

    def endless(*_: object, listener, **__: object) -> None:  # type: ignore[no-untyped-def]
        begun.set()
        while True:
            listener(Step("step"))

    monkeypatch.setattr(module, "preview", endless)
    opened = Session.sample(tmp_path, rows=60)

    def look() -> None:
        try:
            opened.preview()
        except Outdated:
            ended.append(True)

    looking = Thread(target=look)
    looking.start()
    assert begun.wait(60)
    opened.close()
    looking.join(10)
    assert ended == [True]
