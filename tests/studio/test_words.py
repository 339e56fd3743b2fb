"""What words mean is told so that somebody who never saw the taxonomy can choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsense.studio.session.session import Session
from keepsense.studio.session.words import choose, column_words


def test_a_word_and_its_senses_are_told_by_what_they_are_and_the_one_taken_is_marked(tmp_path: Path) -> None:
    jobs = ("nurse", "decorator", "clerk", "pilot", "surgeon", "dentist")
    with Session.of_frame(
        {"occupation": [jobs[i % 6] for i in range(60)], "age": list(range(60))}, tmp_path
    ) as session:
        found = column_words(session, "occupation")
        assert found is not None
        word = next(word for word in found.words if word.value == "nurse")
        assert "#" not in word.chosen
        assert " a kind of " in word.chosen
        assert [sense.meaning for sense in word.senses if sense.taken] == [word.chosen]
        assert not any("#" in sense.meaning for sense in word.senses)
        other = next(sense for sense in word.senses if not sense.taken)
        choose(session, "occupation", "nurse", other.label)
        again = column_words(session, "occupation")
        assert again is not None
        (said,) = [word for word in again.words if word.value == "nurse"]
    assert said.state == "yours"
    assert said.chosen == other.meaning


@pytest.mark.parametrize("state", ["in doubt", "unknown", "by its last noun", "chosen among several", "yours"])
def test_every_state_of_a_word_is_explained(state: str) -> None:
    from keepsense.studio.pages.meaning import _COLOURS, _MEANT

    assert _MEANT[state].endswith(".")
    assert state in _COLOURS
