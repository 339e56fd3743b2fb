"""Lanes of tests, fixtures every test may use, options for longer properties and for runs that leave nothing out."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

LANES = ("long", "contract", "fast")
"""Each test is in one lane: the one it is marked with, else that of its file. They start in this order."""

LANE_OF: dict[str, str] = {}
"""The lane of the tests in a file or a folder that are not marked; the longest path decides, and the rest are fast."""

NOTHING_TO_INSTALL = (
    "needs the real data folder",
    "Unix",
    "Windows",
    "there is no SIG",
    "zlib-ng",
)
"""What reasons to skip say that no installation can mend."""

LONGER = 5
"""How many times as many examples properties try where they are asked to take their time."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("keepsense")
    group.addoption("--longer", action="store_true", help=f"let properties try {LONGER} times as many examples")
    group.addoption("--refuse-skips", action="store_true", help="fail where a test is skipped for want of a program")
    group.addoption("--may-skip", action="append", default=[], metavar="TEXT", help="but for reasons that say this")


# ---- lanes -----------------------------------------------------------------------------------------------------------


def lane_of(file: Path) -> str:
    """The lane of the tests in a file that are not marked."""
    place = file.relative_to(ROOT)
    return next((LANE_OF[str(part)] for part in (place, *place.parents) if str(part) in LANE_OF), "fast")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that have no test of the lanes asked for are not imported."""
    asked = config.option.markexpr
    if collection_path.suffix != ".py" or asked not in ("fast", "not long"):
        return None
    lane = lane_of(collection_path)
    return True if lane == "long" or asked == "fast" != lane else None


def _assign_lanes(items: list[pytest.Item]) -> None:
    """Marks every test with its lane, and puts those that take longest first, so that workers end together."""
    order = {}
    for item in items:
        if not any(item.get_closest_marker(lane) for lane in LANES):
            item.add_marker(lane_of(item.path))
        order[item] = next(place for place, lane in enumerate(LANES) if item.get_closest_marker(lane))
    items.sort(key=order.__getitem__)


def _try_more_examples(items: list[pytest.Item]) -> None:
    from hypothesis import settings

    functions = {getattr(item.obj, "__func__", item.obj) for item in items if isinstance(item, pytest.Function)}
    for test in functions:  # one function may be many tests
        usual = getattr(test, "_hypothesis_internal_use_settings", None)
        if usual is not None:
            test._hypothesis_internal_use_settings = settings(usual, max_examples=LONGER * usual.max_examples)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _assign_lanes(items)
    if config.getoption("longer"):
        _try_more_examples(items)


# ---- skips -----------------------------------------------------------------------------------------------------------


class _Skips:
    """Remembers why tests were skipped; the session fails where somebody could have installed what they need."""

    def __init__(self, allowed: tuple[str, ...]) -> None:
        self.allowed = allowed
        self.refused: dict[str, str] = {}

    def note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
            if not any(text in reason for text in self.allowed):
                self.refused[report.nodeid] = reason

    pytest_runtest_logreport = note
    pytest_collectreport = note

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused and session.exitstatus == 0:
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.refused:
            terminalreporter.section("skipped, though what they need could be installed")
            for test, reason in self.refused.items():
                terminalreporter.line(f"{test}: {reason}")


# ---- workers ---------------------------------------------------------------------------------------------------------


def _compile_each_loop_once() -> None:
    """One worker compiles a loop of Numba's while the others wait for its file, since they all start together."""
    try:
        import fcntl
    except ImportError:  # Windows: workers may compile the same loop
        return
    from numba.core.dispatcher import Dispatcher

    file = os.open(__file__, os.O_RDWR)  # each loop has a byte of it to lock; nothing is written
    compiled: Any = Dispatcher.compile

    def compile_alone(self: Any, signature: Any) -> Any:
        byte = zlib.crc32(f"{self.__module__}.{self.__qualname__}".encode())
        fcntl.lockf(file, fcntl.LOCK_EX, 1, byte)
        try:
            return compiled(self, signature)
        finally:
            fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)

    Dispatcher.compile = compile_alone


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        _compile_each_loop_once()
    elif config.getoption("refuse_skips"):  # workers report to this session
        config.pluginmanager.register(_Skips((*NOTHING_TO_INSTALL, *config.getoption("may_skip"))))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data beside the checkout; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("KEEPSENSE_DATA") or "../shared/data")
    folder = folder if folder.is_absolute() else ROOT / folder
    if not folder.is_dir():
        pytest.skip(f"needs the real data folder, and {folder.name!r} is not beside this checkout (set KEEPSENSE_DATA)")
    return folder
