"""The newest preview of a session: what is shown early, what is old, and who goes first."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag
from types import SimpleNamespace
from typing import Any

from keepsense.studio.serving.live import Live


def _seen(name: str, *, cells: bool = True) -> Any:
    return SimpleNamespace(name=name, after=SimpleNamespace(cells=((),) if cells else ()))


class Slow:
    """A session whose previews wait until they are let go; each is of the text that stood when it began."""

    def __init__(self) -> None:
        self.text = "k = 5"
        self.early: list[Any] = []
        self.go, self.told = Flag(), Flag()
        self.advised: list[str] = []
        self._hears: Callable[[], None] = lambda: None

    def preview(self, early: Callable[[Any], None] | None = None) -> Any:
        text = self.text
        for known in self.early:
            assert early is not None
            early(known)
        self.told.set()
        assert self.go.wait(60)
        self.go.clear()
        return _seen(text)

    def findings(self) -> tuple[Any, ...]:
        self.advised.append(self.text)
        return ()

    def listen(self, function: Callable[[], None]) -> Callable[[], None]:
        self._hears = function
        return lambda: None

    def change(self, text: str) -> None:
        self.text = text
        self._hears()


def test_what_is_known_early_is_shown_until_the_rest_is() -> None:
    session = Slow()
    session.early = [_seen("rows", cells=False), _seen("some")]
    with Live(session, lambda: None) as live:
        assert session.told.wait(60)
        assert (live.preview.name, live.waiting, live.aged) == ("some", True, False)
        session.go.set()
        live.wait()
        assert (live.preview.name, live.waiting, live.aged) == ("k = 5", False, False)
        session.early, session.told = [_seen("rows", cells=False)], Flag()
        session.change("k = 6")
        assert session.told.wait(60)
        assert (live.preview.name, live.aged) == ("k = 5", True), "rows alone are less than what is shown"
        session.go.set()
        live.wait()
        assert live.preview.name == "k = 6"


def test_the_newest_state_comes_before_findings_of_an_old_one() -> None:
    session = Slow()
    with Live(session, lambda: None) as live:
        assert session.told.wait(60)
        session.told = Flag()
        session.change("k = 6")
        session.go.set()
        assert session.told.wait(60)
        session.go.set()
        live.wait()
        assert live.preview.name == "k = 6"
    assert "k = 5" not in session.advised
