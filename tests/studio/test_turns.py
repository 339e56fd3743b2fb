"""What somebody presses is answered before what fills a page is gone on with."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from keepsense.progress import Event as Step
from keepsense.studio.session import division, solutions
from keepsense.studio.session.session import Session
from keepsense.studio.session.turns import Turns


def test_a_pressed_group_is_answered_in_the_middle_of_trying_other_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    trying, waits = Event(), Session.unhurried

    with Session.sample(tmp_path, rows=200) as session:
        session.set_method("mondrian")
        session.preview()

        def watched(self: Session):  # type: ignore[no-untyped-def]
            heard = waits(self)

            def hear(step: Step) -> None:
                trying.set()
                while not (self.bench.lock.hurried or order):
                    pass
                heard(step)

            return hear

        monkeypatch.setattr(Session, "unhurried", watched)
        page = Thread(target=lambda: (solutions.others(session), order.append("page")))
        page.start()
        assert trying.wait(30)
        division.attempt(session, "whole", {}, "occupation")
        order.append("pressed")
        page.join(60)
    assert order == ["pressed", "page"]


def test_a_turn_can_be_taken_again_by_its_holder_and_is_handed_over_whole() -> None:
    turns, seen = Turns(), []

    def hurry() -> None:
        with turns.first():
            seen.append("first")

    def wait() -> None:
        with turns:
            seen.append("later")

    with turns, turns:
        threads = [Thread(target=wait), Thread(target=hurry)]
        for thread in threads:
            thread.start()
        while not turns.hurried:
            pass
        turns.give_way()
        seen.append("holder")
    for thread in threads:
        thread.join(10)
    assert seen.index("first") == 0, "nobody who is not in a hurry comes before who is"
    assert set(seen) == {"first", "later", "holder"}


def test_who_does_not_hold_it_gives_no_way() -> None:
    turns = Turns()
    turns.give_way()
    with turns.first():
        assert not turns.hurried
