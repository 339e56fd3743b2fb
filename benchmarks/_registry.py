"""What a benchmark is and how it is found."""

from __future__ import annotations

import importlib
import json
import pkgutil
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import benchmarks


@dataclass(frozen=True)
class Figure:
    """One measured figure: what, how much, compared with what, and whether the bar holds."""

    name: str
    figure: float | None
    unit: str
    against: str
    ratio: float | None
    bar: str
    holds: bool | None


Benchmark = Callable[[], Iterable[Figure]]
_FOUND: dict[str, Benchmark] = {}


def benchmark(name: str) -> Callable[[Benchmark], Benchmark]:
    """Register a benchmark under a name."""

    def register(function: Benchmark) -> Benchmark:
        _FOUND[name] = function
        return function

    return register


def missing(name: str, peer: str, bar: str) -> Figure:
    """What is reported where a peer is not installed: never silence."""
    return Figure(name, None, "", f"{peer} (missing)", None, bar, None)


def all_benchmarks() -> dict[str, Benchmark]:
    """Every registered benchmark by name."""
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"benchmarks.{module.name}")
    return dict(sorted(_FOUND.items()))


def best_of(function: Callable[[], Any], repeat: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Least seconds of a few calls.

    For work on one core, `clock=time.process_time` (or `children_time` for processes it starts) tells what the work
    takes, whatever else the machine is doing.
    """
    seconds = []
    for _ in range(repeat):
        start = clock()
        function()
        seconds.append(clock() - start)
    return min(seconds)


def children_time() -> float:
    """Seconds that processes started from here have had a core for, those that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def as_toml(value: Any, *, inside: bool = False) -> str:
    """A document as TOML: a line for every key, what lies below in one line."""
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)} = {as_toml(entry, inside=True)}" for key, entry in value.items()]
        return f"{{{', '.join(lines)}}}" if inside else "\n".join([*lines, ""])
    if isinstance(value, list):
        return f"[{', '.join(as_toml(entry, inside=True) for entry in value)}]"
    return json.dumps(value)


def peak_of(code: str) -> tuple[float, str]:
    """Peak resident memory in MB of a fresh Python that runs `code`, imports included, and what it printed."""
    # ru_maxrss would count the parent's pages too, carried over the fork; the kernel's high-water mark starts anew.
    status = "next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1]"
    wrapped = f"{code}\nprint(int({status}) / 1024)"
    done = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, check=True)
    *printed, peak = done.stdout.strip().splitlines()
    return float(peak), "\n".join(printed)
