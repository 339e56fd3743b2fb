"""A release as those who receive it open it: the rows, with what their labels mean as columns to compute with."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from keepsense.engines import started
from keepsense.errors import BadInput
from keepsense.files import parsed_json
from keepsense.hierarchies.kinds import KINDS
from keepsense.release.describe import DESCRIPTION
from keepsense.release.dictionary import DICTIONARY

Library = Literal["pyarrow", "pandas", "polars"]
"""Libraries whose frames a release can be read into."""


def read_release(folder: str | Path, library: Library | None = None) -> Any:
    """The rows of a release folder as a frame; without a library, of pandas or Polars where one is installed.

    A column of bands or spans gets two more, `age lower` and `age upper` (numbers or days; empty where the band is open
    or the cell hidden), a column of concepts one, `job concept`, with their ids in the taxonomy.

    >>> from keepsense.release.example import example_release
    >>> rows = read_release(example_release().file.parent, "pyarrow")
    >>> rows.column_names[:3], sorted(set(rows["age upper"].to_pylist()), key=str)
    (['age', 'age lower', 'age upper'], [30.0, 39.0, 49.0, None])
    """
    description = read_description(folder)
    file = Path(folder) / str(description["release"])
    if not file.is_file():
        raise BadInput(f"{file.name}: the released file is not in the folder; a release into a database is read there")
    with started() as engine:
        rows = engine.frame(engine.read(str(file)))
    return _as(library, _explained(rows, description.get(DICTIONARY, {})))


def read_description(folder: str | Path) -> dict[str, Any]:
    """What `release.json` in a release folder says.

    >>> from keepsense.release.example import example_release
    >>> read_description(example_release().file.parent)["dictionary"]["job"]["done"]
    'as it was'
    """
    path = Path(folder) / DESCRIPTION
    try:
        description = parsed_json(path.read_bytes())
    except OSError as error:
        raise BadInput(
            f"{path.name}: the description cannot be read ({error.strerror}); name a release folder"
        ) from None
    except ValueError:
        description = None
    if not isinstance(description, dict) or not isinstance(description.get("release"), str):
        raise BadInput(f"{path.name}: this is no description of a release")
    return description


def _explained(rows: Any, dictionary: Mapping[str, Any]) -> Any:
    """The rows with the ends and concepts of labels, each beside its column."""
    columns: dict[str, Any] = {}
    for name in rows.column_names:
        columns[name] = rows[name]
        about = dictionary.get(name, {})
        columns |= _ends(name, rows[name], str(about.get("kind", ""))) if about.get("labels") else {}
        ids = {label: entry["concept"] for label, entry in about.get("labels", {}).items() if "concept" in entry}
        if ids:
            columns[f"{name} concept"] = [ids.get(str(cell)) for cell in rows[name].to_pylist()]
    import pyarrow as pa

    return pa.table(columns)


def _ends(name: str, cells: Any, kind: str) -> dict[str, Any]:
    import pyarrow as pa

    span = KINDS[kind].span if kind in KINDS else None
    if span is None:
        return {}
    values = cells.to_pylist()
    ends = {value: span(value) or (None, None) for value in set(values)}
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
