"""Full runs of the studio: with progress, stopped without a trace, refused with remedies, compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsense.progress import Event
from keepsense.release.run import STAGES
from keepsense.studio.session.runs import Cancelled, Run
from keepsense.studio.session.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    jobs, ills = ("nurse", "clerk", "pilot", "baker", "surgeon"), ("flu", "cold", "asthma")
    rows = [f"p{i},{20 + i * i * 7 % 41},{jobs[i * i % 97 % 5]},{ills[i % 3]}" for i in range(240)]
    (tmp_path / "people.csv").write_text("\n".join(["name,age,job,illness", *rows, ""]), encoding="utf-8")
    with Session.open(tmp_path / "people.csv") as opened:
        yield opened


def test_a_release_is_made_where_the_project_says(session: Session) -> None:
    made = session.start(rehearsed=False).wait()
    assert made.state == "done"
    assert made.outcome is not None
    assert made.outcome.file == session.folder / "release" / "people.csv"
    assert made.outcome.verification.ok
    assert made.figure("risk", "after", "prosecutor, highest") <= 0.2
    assert made.figure("nothing", "such") is None


def test_a_rehearsal_leaves_nothing_behind(session: Session) -> None:
    made = session.start().wait()
    assert made.outcome is not None
    assert not (session.folder / "release").exists()
    assert made.outcome.file.exists()
    made.discard()
    assert not made.outcome.file.exists()


def test_several_runs_are_compared(session: Session) -> None:
    session.start().wait()
    session.set_k(10)
    session.start().wait()
    first, second = session.runs
    assert first.name != second.name
    assert first.text != second.text
    assert second.shares != first.shares, "the second knows how long the stages of the first took"
    assert session.running is None


def test_a_run_stops_at_its_next_step_and_releases_nothing(session: Session) -> None:
    made = Run(1, session.project, session.folder, session.text, rehearsed=False)
    made.cancel()
    assert made.state == "stopping"
    made.start().wait()
    assert made.state == "cancelled"
    assert made.outcome is None
    assert not (session.folder / "release").exists()


def test_what_cannot_be_kept_is_refused_with_remedies(session: Session) -> None:
    session.set_k(1_000)
    session.set_suppression(0)
    made = session.start().wait()
    assert made.state == "refused"
    assert made.problem
    assert made.remedies


def test_progress_goes_on_and_tells_the_time_left(session: Session) -> None:
    run = Run(1, session.project, session.folder, session.text)
    fractions = []
    for number, stage in enumerate(STAGES):
        run._hear(Event("stage", number, len(STAGES), {"stage": stage}))
        fractions.append(run.fraction)
        run._hear(Event("node", 1, 2))
        fractions.append(run.fraction)
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] < 1
    assert run.left is not None
    run.cancel()
    with pytest.raises(Cancelled):
        run._hear(Event("node", 1, 2))
