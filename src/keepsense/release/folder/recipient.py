"""Open a release as its recipients do: the rows, with what their labels mean as columns to compute with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from keepsense.engines.protocol import Engine, started
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.release.folder.description import DESCRIPTION, read_description
from keepsense.release.folder.dictionary import DICTIONARY
from keepsense.release.folder.place import digest_of

Library = Literal["pyarrow", "pandas", "polars"]
"""Libraries whose frames a release can be read into."""


def read_release(folder: str | Path, library: Library | None = None, *, engine: str | Engine | None = None) -> Any:
    """The rows of a release folder as a frame; without a library, of pandas or Polars where one is installed.

    A column of bands or spans gets two more, `age lower` and `age upper` (numbers or days; empty where the band is open
    or the cell hidden), a column of concepts one, `job concept`, with their ids in the taxonomy. A description that is
    none, or that is of another file than the one that lies there, is refused.

    >>> from keepsense.release.example import example_release
    >>> rows = read_release(example_release().file.parent, "pyarrow")
    >>> rows.column_names[:3], sorted(set(rows["age upper"].to_pylist()), key=str)
    (['age', 'age lower', 'age upper'], [30.0, 39.0, 49.0, None])
    """
    description = read_description(folder)
    file = _described_file(Path(folder), description)
    with started(engine) as running:
        rows = running.frame(running.read(str(file)))
    return _as(library, _explained(rows, description.get(DICTIONARY, {})))


def _described_file(folder: Path, description: Mapping[str, Any]) -> Path:
    """The file that a description is of; its name leads nowhere else, and its bytes are those that were described."""
    name: str = description["release"]
    file = folder / name
    if Path(name).name != name or not os.path.isfile(file):  # noqa: PTH113 (a name may be too long)
        raise BadInput(
            f"{DESCRIPTION}: the released file is not in the folder; a release into a database is read there"
        )
    digest = description.get("sha256")
    if digest is not None and digest != digest_of(file):
        raise BadInput(
            f"{file.name} is not the file that {DESCRIPTION} describes: one of them was changed since; ask the "
            "publisher for both"
        )
    return file


def _explained(rows: Any, dictionary: Mapping[str, Any]) -> Any:
    """The rows with the ends and concepts of labels, each beside its column, where no released column is called so."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in rows.column_names:
        columns[name] = rows[name]
        about = dictionary.get(name, {})
        more = _ends(name, rows[name], about) if about.get("labels") else {}
        ids = {label: entry["concept"] for label, entry in about.get("labels", {}).items() if "concept" in entry}
        if ids:
            more[f"{name} concept"] = pa.array([ids.get(str(cell)) for cell in rows[name].to_pylist()], pa.string())
        columns |= {title: cells for title, cells in more.items() if title not in rows.column_names}

    return pa.table(columns)


def _ends(name: str, cells: Any, about: Mapping[str, Any]) -> dict[str, Any]:
    """Both ends of bands and spans: as the dictionary says, or as the label itself does."""
    import pyarrow as pa

    kind, labels = about["kind"], about["labels"]
    span = KINDS[kind].span if kind in KINDS else None
    if span is None:
        return {}
    values = [None if isinstance(cell, list | dict) else cell for cell in cells.to_pylist()]
    ends = {}
    for value in set(values):
        told = labels.get(str(value), {})
        # labels of numbers may be spelled as another country does, which the dictionary explains
        listed = (told["lower"], told["upper"]) if KINDS[kind].numbers and {"lower", "upper"} <= told.keys() else None
        ends[value] = listed or span(value) or (None, None)
    known = [end for both in ends.values() for end in both if end is not None]
    if not known:
        return {}
    type_ = pa.float64() if KINDS[kind].numbers else pa.date32()
    return {
        f"{name} {what}": pa.array([ends[value][at] for value in values], type_)
        for at, what in enumerate(("lower", "upper"))
    }


def _as(library: Library | None, rows: Any) -> Any:
    if library not in (None, "pyarrow", "pandas", "polars"):
        raise BadInput(f"a release is read into pyarrow, pandas or polars, not {library!r}")
    chosen = library or next((name for name in ("pandas", "polars") if find_spec(name)), "pyarrow")
    if chosen == "pandas":
        return rows.to_pandas()
    if chosen == "polars":
        import polars as pl

        return pl.from_arrow(rows)
    return rows
