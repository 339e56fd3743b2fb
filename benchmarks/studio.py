"""The studio at work: what a click costs a page with a million rows and a large tree, and how soon previews follow.

Clicks are measured by the time that the thread which serves pages is busy: while it is, no page answers. Previews are
made in a thread of their own; what counts is the processor's time after a change, all threads together: the longest
that one waits on a machine that does nothing else.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._registry import Figure, benchmark, best_of, missing
from benchmarks.meaning import DATA
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.studio.session.preview import Preview
from keepsense.studio.session.session import Session

ROWS = 1_000_000
LABELS = 5_000
CLICK = 0.2
"""Seconds that a page may be busy with a click."""
FOLLOWS = 2.0
"""Seconds in which a preview is to follow."""
TABLES = {
    "insurance": "insurance/insurance_act_original_occ_original_10000.csv",
    "diabetes130": "diabetes130/encounters.csv",
    "patients": "synthea_uk/patients.csv",
}


def _click(name: str, press: Callable[[], object]) -> Figure:
    spent = best_of(press, clock=time.thread_time)
    ratio = spent / CLICK
    return Figure(f"studio: {name}", spent, "s", f"{CLICK:g} s of a page's thread", ratio, "<= 1", ratio <= 1)


@benchmark("studio_clicks")
def clicks() -> Iterable[Figure]:
    """Changes of a project about a million rows, and a tree of five thousand labels drawn and opened."""
    with tempfile.TemporaryDirectory() as folder, Session.open(_million(Path(folder))) as session:
        sizes = iter(range(6, 99))
        yield _click("k is moved, 1,000,000 rows", lambda: session.set_k(next(sizes)))
        yield _click("a change is undone, 1,000,000 rows", session.undo)
        weights = iter([0.5, 2.0, 4.0])
        yield _click("a weight is moved, 1,000,000 rows", lambda: session.set_weight("age", next(weights)))
        roles = iter(["insensitive", "quasi-identifier", "insensitive"])
        yield _click("a role is changed, 1,000,000 rows", lambda: session.set_role("town", next(roles)))
        yield _click("steps and columns are listed, 1,000,000 rows", lambda: (session.steps, session.columns))
    yield from _tree()


def _million(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    towns = np.array([f"town {i:03}" for i in range(300)])
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "town": towns[rng.integers(0, len(towns), ROWS)],
            "job": np.array(["nurse", "clerk", "pilot", "baker", "surgeon"])[rng.integers(0, 5, ROWS)],
            "illness": np.array(["flu", "cold", "asthma"])[rng.integers(0, 3, ROWS)],
        }
    )
    file = folder / "people.parquet"
    pq.write_table(table, file)
    return file


def _tree() -> Iterable[Figure]:
    from nicegui import Client
    from nicegui.page import page

    from keepsense.studio.widgets.tree_view import Place, TreeView

    leaves = LABELS - 111
    rows = [(f"value {i}", f"group {i % 100}", f"part {i % 10}", "anything") for i in range(leaves)]
    tree = Hierarchy.of_rows(rows, name="code")
    counts: dict[str | None, int] = {f"value {i}": i for i in range(leaves)}
    client = Client(page("/bench"), request=None)

    async def change(operation: str, **arguments: object) -> str:
        raise AssertionError

    async def mend(fix: object) -> None:
        raise AssertionError

    def draw() -> TreeView:
        with client:
            return TreeView(tree, counts, (), change, mend)

    yield _click(f"a tree of {LABELS:,} labels is drawn", draw)
    view = draw()

    def open_group() -> None:
        with client:
            view._several(view._children(Place(1, 0)), 0)

    yield _click(f"a branch of a tree of {LABELS:,} labels is opened", open_group)


@benchmark("studio_preview")
def preview() -> Iterable[Figure]:
    """How long the preview takes to follow a change of k, on the sample and three tables: first figures, and all."""
    with tempfile.TemporaryDirectory() as folder:
        with Session.sample(folder) as session:
            yield from _follows("sample", session)
        for name, file in TABLES.items():
            if not (DATA / file).is_file():
                yield missing(f"studio: preview of {name}", file, "<= 1")
                continue
            (home := Path(folder) / name).mkdir()
            with Session.open(DATA / file, folder=home) as session:
                yield from _follows(name, session)


def _note(start: float, shown: list[float], seen: Preview) -> None:
    """Note when figures of losses were first shown; rows and risk alone come before."""
    if seen.lost:
        shown.append(time.process_time() - start)


def _follows(name: str, session: Session) -> Iterable[Figure]:
    session.preview()
    waits = []
    for k in (6, 7, 8):
        shown: list[float] = []
        start = time.process_time()
        session.set_k(k)
        session.preview(partial(_note, start, shown))
        waits.append((*shown, time.process_time() - start))
    for what, waited in (
        ("first figures", min(wait[0] for wait in waits)),
        ("preview", min(wait[-1] for wait in waits)),
    ):
        ratio = waited / FOLLOWS
        against = f"{FOLLOWS:g} s of processors"
        yield Figure(f"studio: {what} of {name}", waited, "s", against, ratio, "<= 1", ratio <= 1)
