"""The hierarchy of a column in a project: from its file, or built for its kind and its own values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.core import Hierarchy

if TYPE_CHECKING:
    from keepsense.release.job import Job, Random

MISSING = "(missing)"
_CONSIDERED = 6
"""Candidates of a hierarchy that are remembered, the chosen one first, for the report."""

# format by ending: the module and the name after read_ and write_
_FORMATS = {
    ".csv": ("formats.arx", "arx"),
    ".xml": ("formats.aika_xml", "xml"),
    ".json": ("formats.json_file", "json"),
    ".txt": ("formats.tree_text", "tree"),
    ".tree": ("formats.tree_text", "tree"),
}
_KINDS = ("nominal", "numeric", "date", "masked", "ordered")


def hierarchy_of(job: Job, name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """Hierarchy of one column over exactly the values it has (a missing cell is a value of its own).

    >>> from keepsense.release.example import example_job
    >>> hierarchy_of(example_job(), "age", {"20": 2, "21": 3, "24": 2, "26": 2}).rows()[0]
    ('20', '[20, 21]', '*')
    """
    column = job.column(name)
    present = {value: count for value, count in rows.items() if value is not None}
    if not present:
        raise BadInput(f"column {name!r} is empty; drop it or give it another role")
    if column.hierarchy not in (None, "auto"):
        hierarchy = read_hierarchy(job.folder / str(column.hierarchy), name)
    elif column.kind == "numeric":
        hierarchy = _numbers(name, present)
    elif column.kind == "date":
        from keepsense.hierarchies.kinds import dates

        hierarchy = dates(present, name=name)
    elif column.kind == "masked":
        from keepsense.hierarchies.kinds import masked

        hierarchy = masked(present, name=name)
    elif column.kind == "ordinal":
        if column.order is None:
            raise BadInput(f"column {name!r} is ordinal; list its values in `order`, lowest first")
        from keepsense.hierarchies.kinds import ordered

        hierarchy = ordered(column.order, name=name)
    elif column.taxonomy is None:
        hierarchy = Hierarchy.of_rows([(value, "*") for value in present], name=name)
    else:
        hierarchy = _words(job, name, present)
    if None in rows and None not in hierarchy.leaves:
        return _with_missing(hierarchy, name, wild=column.missing == "wildcard")
    return hierarchy


def read_hierarchy(path: Path, name: str) -> Hierarchy:
    """Read a hierarchy file of any format, by its ending.

    >>> read_hierarchy(Path("jobs.docx"), "job")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: jobs.docx: no hierarchy format ends in .docx; there are: .csv, .json, .tree, .txt, .xml
    """
    module, form = _format(path)
    read: Hierarchy = getattr(import_module(f"keepsense.hierarchies.{module}"), f"read_{form}")(path)
    return replace(read, name=name)


def write_hierarchy(hierarchy: Hierarchy, path: Path) -> None:
    """Write a hierarchy in the format its file's ending tells.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "jobs.csv"
    ...     write_hierarchy(Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")]), file)
    ...     read_hierarchy(file, "job").leaves
    ('nurse', 'clerk')
    """
    module, form = _format(path)
    if not path.parent.is_dir():
        raise BadInput(f"{path.name}: the folder to write it into does not exist")
    getattr(import_module(f"keepsense.hierarchies.{module}"), f"write_{form}")(hierarchy, path)


def _format(path: Path) -> tuple[str, str]:
    found = _FORMATS.get(path.suffix.lower())
    if found is None:
        known = ", ".join(sorted(_FORMATS))
        raise BadInput(f"{path.name}: no hierarchy format ends in {path.suffix or 'nothing'}; there are: {known}")
    return found


def with_kind(hierarchy: Hierarchy, kind: str | None) -> Hierarchy:
    """The hierarchy as one of another kind, for files that do not tell theirs.

    >>> with_kind(Hierarchy.of_rows([("1", "*"), ("2", "*")]), "numeric").kind
    'numeric'
    """
    if kind is None:
        return hierarchy
    if kind not in _KINDS:
        raise BadInput(f"no hierarchy is of kind {kind!r}; there are: {', '.join(_KINDS)}.{did_you_mean(kind, _KINDS)}")
    return replace(hierarchy, kind=kind)  # type: ignore[arg-type]


def build_hierarchy(
    source: str | Path,
    column: str,
    *,
    kind: str | None = None,
    taxonomy: str | None = "wordnet",
    domain: str | None = None,
    mapping: Path | None = None,
    order: list[str] | None = None,
    distance: str = "wu-palmer",
    rng: Random = None,
) -> Hierarchy:
    """Build the hierarchy that a project with `hierarchy = "auto"` would use for a column of a table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("age\\n" + "\\n".join(map(str, range(20, 40))))
    ...     build_hierarchy(Path(folder) / "people.csv", "age").kind
    'numeric'
    """
    from keepsense.engines import engine
    from keepsense.engines.profile import profiles
    from keepsense.project.file import check_project
    from keepsense.project.inspect import kind_of
    from keepsense.release.job import Job

    with engine() as running:
        table = running.read(str(source))
        table.require([column])
        chosen = kind or ("ordinal" if order else kind_of(profiles(table, columns=[column])[0]))
        about = {
            "role": "quasi-identifier",
            "kind": chosen,
            "taxonomy": taxonomy if chosen == "nominal" else None,
            "domain": domain,
            "mapping": None if mapping is None else str(mapping.resolve()),
            "order": order,
            "distance": distance,
        }
        project = check_project(
            {
                "source": {"path": str(source)},
                "columns": {column: {key: value for key, value in about.items() if value is not None}},
                "privacy": [{"model": "k-anonymity", "k": 2}],
                "unlisted": "drop",
            },
            Path(source).name,
        )
        job = Job(project, Path(), running, np.random.default_rng(rng))
        counts = running.count(table, [column])
        return hierarchy_of(job, column, counts.rows_of(column))


def _words(job: Job, name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """The best of many candidates that the taxonomy gives, by their semantic loss."""
    from keepsense.hierarchies.choice import by_gsl, choose
    from keepsense.hierarchies.construct import candidates
    from keepsense.semantics import distance

    taxonomy = job.taxonomy(name)
    judge = distance(job.column(name).distance, taxonomy)
    mapping = job.mapping(name, rows)
    made = candidates(
        list(rows),
        taxonomy,
        list(rows.values()),
        senses=mapping,
        distance=judge,
        unknown="list",
        name=name,
        rng=0,  # the same candidates each time, so that a release can be opened again, and reused next month
    )
    # values in no taxonomy stay by themselves up to the top and are not judged
    choice = choose({name: made}, by_gsl(judge, unknown="list"))
    best, at, scores = choice.hierarchies[name], choice.positions[name], choice.scores[name]
    order = [at, *(i for i in np.argsort(scores, kind="stable").tolist() if i != at)][:_CONSIDERED]
    told = tuple((str(made[i].info.get("made", "")), float(scores[i])) for i in order)
    return replace(best, info={**best.info, "considered": told, "candidates": len(made)})


def _numbers(name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """Intervals of about equally many rows; cells that are text keep their spelling as leaves."""
    from keepsense.hierarchies.numeric import equal_frequency

    numbers: dict[Value, float] = {}
    for value in rows:
        try:
            numbers[value] = float(str(value)) if not isinstance(value, int | float) else value
        except ValueError:
            raise BadInput(f"column {name!r} is numeric, but holds a value that is no number") from None
    weight: dict[float, int] = {}
    for value, number in numbers.items():
        weight[number] = weight.get(number, 0) + rows[value]
    whole = {n: int(n) if float(n).is_integer() else n for n in weight}
    built = equal_frequency([whole[n] for n in weight], list(weight.values()), name=name)
    above = {row[0]: row[1:] for row in built.rows()}
    return Hierarchy.of_rows([(value, *above[whole[n]]) for value, n in numbers.items()], name=name, kind="numeric")


def _with_missing(hierarchy: Hierarchy, name: str, *, wild: bool) -> Hierarchy:
    """The hierarchy with a leaf for missing cells, which stays by itself up to the top; a wildcard stays empty."""
    rows = hierarchy.rows()
    top = rows[0][-1]
    label = None if wild else MISSING
    missing = (None, *[label] * (hierarchy.height - 1), top) if hierarchy.height else (None,)
    found = Hierarchy.of_rows([*rows, missing], name=name, kind=hierarchy.kind)
    if hierarchy.concepts is None:
        return found
    known = [dict(zip(*level, strict=True)) for level in zip(hierarchy.labels, hierarchy.concepts, strict=True)]
    concepts = tuple(
        np.array([place.get(value, -1) for value in values], dtype=np.int32)
        for place, values in zip(known, found.labels, strict=True)
    )
    return replace(found, concepts=concepts, info=hierarchy.info)
