"""Clocks for tests: what is found must not depend on how fast a machine is, so time passes by looking at it."""

from __future__ import annotations

import itertools
import time

import pytest


def tick(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let so many seconds pass whenever a program looks at a clock, and none otherwise."""
    moments = itertools.count(1)
    for name in ("monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: next(moments) * seconds)
