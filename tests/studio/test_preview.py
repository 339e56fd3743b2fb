"""What the studio shows before anything is released: rows, figures and promises that agree with the full run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest

from keepsense.methods.generalize.division_kernels import exchanges
from keepsense.methods.generalize.joint_loss_kernels import divide_together
from keepsense.progress import Event
from keepsense.release.example import example_job
from keepsense.release.figures.alternatives import other_methods
from keepsense.release.figures.trade import trade
from keepsense.studio.serving.readiness import make_ready
from keepsense.studio.session.document import Outdated
from keepsense.studio.session.estimate import estimate, sampled
from keepsense.studio.session.preview import Preview, preview
from keepsense.studio.session.session import Session

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    jobs, ills = ("nurse", "clerk", "pilot", "baker", "surgeon"), ("flu", "cold", "asthma")
    rows = [f"p{i},{20 + i * i * 7 % 41},{jobs[i * i % 97 % 5]},{ills[i % 3]}" for i in range(240)]
    (tmp_path / "people.csv").write_text("\n".join(["name,age,job,illness", *rows, ""]), encoding="utf-8")
    with Session.open(tmp_path / "people.csv") as opened:
        yield opened


def test_rows_before_and_after_stand_side_by_side(session: Session) -> None:
    shown = session.preview()
    assert len(shown.before.cells) == len(shown.after.cells) == 20
    assert shown.before.names == ("name", *shown.after.names)
    at = shown.after.names.index("age")
    assert shown.after.cells[0][at] != shown.before.cells[0][at + 1]
    assert shown.at_risk > 0
    assert shown.at_risk_after == 0
    assert all(promise.kept for promise in shown.promises)


def test_the_figures_are_those_of_the_full_run(session: Session) -> None:
    shown = session.preview()
    made = session.start().wait()
    assert made.outcome is not None
    assert not shown.sampled
    lost = {n: c["lost"] for n, c in made.outcome.description["columns"].items() if "lost" in c}
    assert shown.lost == pytest.approx(lost, abs=1e-3)
    assert shown.suppressed == made.outcome.description["suppressed records"]
    before = made.outcome.description["risk"]["before"]
    assert before["prosecutor, highest"] == 1.0


def test_a_preview_follows_every_change_and_is_kept_for_undo(session: Session) -> None:
    five = session.preview()
    session.set_k(20)
    twenty = session.preview()
    assert fmean(twenty.lost.values()) > fmean(five.lost.values())
    assert session.seen is twenty
    session.undo()
    assert session.preview() is five


def test_what_cannot_be_released_is_told_with_remedies(session: Session) -> None:
    session.set_k(1_000)
    session.set_suppression(0)
    shown = session.preview()
    assert not shown.ok
    assert shown.problem
    remedies = [remedy for advice in session.findings() if advice.code == "E" for remedy in advice.remedies]
    assert remedies
    session.settle(remedies[0])
    assert session.project.release.suppression == 0.05


@pytest.mark.long
def test_methods_that_change_values_are_shown_too(session: Session) -> None:
    session.set_promises([{"model": "linkage risk", "threshold": 0.9}])
    session.set_method("rank swapping", {"k": 5})
    shown = session.preview()
    assert not shown.problem
    assert shown.after.cells
    assert shown.at_risk_after is not None


def test_a_sample_says_that_it_is_one_and_holds_the_rows_that_are_shown() -> None:
    job = example_job()
    shown = preview(job, most=6, rows=2)
    assert shown.sampled
    assert "of 8 combinations" in shown.note
    assert shown.records == 20
    assert all(cell != "*" for row in shown.after.cells for cell in row)
    some = sampled(job, job.counts.some([0, 1]))
    assert some.counts.total < job.counts.total
    assert estimate(job).part is job


def test_a_preview_that_is_outdated_is_dropped_for_the_newest(session: Session) -> None:
    session.set_k(7)
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(session.preview().k))
    with session.bench.lock:
        thread.start()
        session.set_k(9)
    thread.join()
    assert done == [9]


def test_what_is_known_early_is_handed_over_before_the_rest(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keepsense.studio.session.estimate.FIRST", 80)
    session.set_method("semantic mondrian")
    heard: list[Preview] = []
    shown = session.preview(heard.append)
    rows, some = heard
    assert (rows.at_risk, rows.before, rows.after.cells) == (shown.at_risk, shown.before, ())
    assert len(some.after.cells) == 20
    assert some.sampled
    assert some.found is not None
    assert some.found.tuples < some.found.of
    session.set_k(6)
    session.undo()
    assert session.preview(heard.append) is shown, "what was worked out before needs nothing early"
    assert len(heard) == 2


def test_long_work_ends_when_the_project_changes(session: Session) -> None:
    session.preview()

    class Changing:
        """Somebody who changes k at the first step of what is worked out."""

        def __init__(self) -> None:
            self.stands = session.while_it_stands()

        def __call__(self, event: Event) -> None:
            session.set_k(9)
            self.stands(event)

    with pytest.raises(Outdated):
        trade(session.job(), Changing())
    session.undo()
    with pytest.raises(Outdated):
        other_methods(session.job(), Changing())


def test_the_first_preview_finds_its_loops_ready(session: Session) -> None:
    make_ready()
    loops = (divide_together, exchanges)
    ready = [loop.signatures for loop in loops]  # type: ignore[attr-defined]
    assert all(ready)
    session.set_method("semantic mondrian")
    assert session.preview().ok
    assert [loop.signatures for loop in loops] == ready  # type: ignore[attr-defined]


TABLES = ("insurance/insurance_act_original_occ_original_10000.csv", "adult/adult.csv", "chicago_homicide/homicide.csv")


@pytest.mark.long
@pytest.mark.skipif(not DATA.is_dir(), reason="the real tables are not here")
@pytest.mark.parametrize("table", [*TABLES, "diabetes130/encounters.csv"])
def test_a_preview_stays_within_fifteen_percent_of_the_full_run(tmp_path: Path, table: str) -> None:
    with Session.open(DATA / table, folder=tmp_path) as session:
        early: list[Preview] = []
        shown = session.preview(early.append)
        made = session.start().wait()
        assert made.outcome is not None, made.problem
        lost = {n: c["lost"] for n, c in made.outcome.description["columns"].items() if "lost" in c}
        for seen in (*(seen for seen in early if seen.after.cells), shown):
            assert seen.mean_loss == pytest.approx(fmean(lost.values()), rel=0.15)
        assert shown.sampled
        assert shown.at_risk_after == 0
