"""Fixtures every test may use; options for longer properties and for runs in which nothing may be left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("longer"):
        return
    from hypothesis import settings

    functions = {getattr(item.obj, "__func__", item.obj) for item in items if isinstance(item, pytest.Function)}
    for test in functions:  # one function may be many tests
        usual = getattr(test, "_hypothesis_internal_use_settings", None)
        if usual is not None:
            test._hypothesis_internal_use_settings = settings(usual, max_examples=LONGER * usual.max_examples)


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


def pytest_configure(config: pytest.Config) -> None:
    # workers tell the session that started them
    if config.getoption("refuse_skips") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Skips((*NOTHING_TO_INSTALL, *config.getoption("may_skip"))))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data beside the checkout; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("KEEPSENSE_DATA") or "../shared/data")
    folder = folder if folder.is_absolute() else ROOT / folder
    if not folder.is_dir():
        pytest.skip(f"needs the real data folder, and {folder.name!r} is not beside this checkout (set KEEPSENSE_DATA)")
    return folder
