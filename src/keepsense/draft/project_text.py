"""Write a draft as a project file: every key explained, every guess with its reason, the same text each time."""

from __future__ import annotations

import json
import os
import re
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from keepsense.display import visible
from keepsense.draft.inspected_column import Inspected
from keepsense.draft.inspection import Inspection, without_password
from keepsense.engines.protocol import Reading
from keepsense.errors import BadInput
from keepsense.files import whole_file
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.method import Method as Registered
from keepsense.methods.method import method as find_method
from keepsense.methods.method import methods
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.project.project_file import Column, EngineChoice, Method, Project, Source, Step, Target, check_project
from keepsense.project.roles import ROLES

FILE = "keepsense.toml"
"""Usual name of a project file."""

_WIDTH = 116


def draft(
    found: Inspection,
    *,
    source: Mapping[str, Any] | None = None,
    k: int = 5,
    method: str | None = None,
    folder: str = "release",
    hierarchies: Mapping[str, str] | None = None,
    promises: Iterable[Mapping[str, Any]] = (),
    suppression: float = 0.05,
) -> str:
    """A project file as text, for a table that was inspected; `source` gives the keys of its section.

    `hierarchies` are files by column, in place of automatic ones, and `promises` stand in place of the usual ones. A
    folder holds one release, so project files beside one another need a `folder` each.

    Unless a method is given, few quasi-identifiers are generalized to one level each, at least loss; with many of them
    that hides too much, so the records are divided into classes at levels of their own.

    >>> from keepsense.draft.inspection import inspect
    >>> text = draft(inspect({"job": ["nurse", "clerk"] * 9}), source={"path": "people.csv"}, k=3)
    >>> tomllib.loads(text)["privacy"]
    [{'model': 'k-anonymity', 'k': 3}]
    """
    where = dict(source or {"path": found.source})
    parts = [
        _header(found, where["path"]),
        _source(where),
        _promises(found, k, list(promises)),
        _steps(),
        _method(found, method),
        _release(where["path"], folder, suppression),
        _columns(found, hierarchies or {}),
    ]
    text = "\n".join(parts)
    check_project(tomllib.loads(text), FILE)  # a draft that would be refused is our bug, and is seen here
    return text


def column_keys(column: Inspected, hierarchy: str | None = None) -> dict[str, Any]:
    """The keys that a draft gives a column, such as it would if its role were another.

    >>> from dataclasses import replace
    >>> from keepsense.draft.inspection import inspect
    >>> (age,) = inspect({"age": [31, 40, 35] * 9}).columns
    >>> column_keys(replace(age, role="identifier"))
    {'role': 'identifier'}
    """
    keys: dict[str, Any] = tomllib.loads("\n".join(_column(column, hierarchy)))["columns"][column.name]
    return keys


def promises_of(column: Inspected) -> list[dict[str, Any]]:
    """What a draft promises about a column beside the size of classes: of words that are sensitive, that they differ.

    >>> from dataclasses import replace
    >>> from keepsense.draft.inspection import inspect
    >>> (illness,) = inspect({"illness": ["flu", "cold", "asthma"] * 9}).columns
    >>> promises_of(replace(illness, role="sensitive"))
    [{'model': 'l-diversity', 'l': 2, 'column': 'illness'}]
    """
    if column.role != "sensitive" or KINDS[column.kind].numbers or column.profile.distinct <= 2:
        return []
    return [{"model": DistinctDiversity.name, "l": 2, "column": column.name}]


def write_draft(text: str, path: str | Path, *, force: bool = False) -> Path:
    """Write a project file; one that is there is not overwritten unless forced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_draft("x = 1", Path(folder) / "keepsense.toml").name
    'keepsense.toml'
    """
    file = Path(path)
    check_free(file, force=force)
    with whole_file(file) as part:
        part.write_text(text, encoding="utf-8")
    return file


def check_free(path: Path, *, force: bool = False) -> None:
    """Refuse a name that is taken, unless forced.

    >>> check_free(Path("/nowhere/keepsense.toml"))
    """
    if path.exists() and not force:
        raise BadInput(f"{path.name}: there is a project file already; give another name, or --force to overwrite it")


def source_keys(source: str, reading: Reading, folder: Path) -> dict[str, Any]:
    """Keys of the `[source]` section: the path as seen from the project's folder, and what was said about reading it.

    A password in a database's address is left out: it does not belong into a file.

    >>> source_keys("postgresql://me:secret@db/people", Reading(table="p"), Path("."))
    {'path': 'postgresql://me@db/people', 'table': 'p'}
    """
    if "://" in source:
        path = without_password(source)
    else:
        try:
            path = Path(os.path.relpath(source, folder)).as_posix()
        except ValueError:  # another drive
            path = Path(source).resolve().as_posix()
    given = {key: getattr(reading, key) for key in ("format", "delimiter", "quote", "encoding", "header", "table")}
    return {"path": path, **{key: value for key, value in given.items() if value is not None}}


# ---- sections --------------------------------------------------------------------------------------------------------


def _header(found: Inspection, path: str) -> str:
    named = Path(path).name if "://" not in path else "a database table"
    return _comment(
        f"How to anonymize {named} ({found.rows:,} rows, {len(found.columns)} columns).",
        "Roles and kinds below are guesses: look at each, then run `keepsense run`. A key that is commented out shows "
        "its default. Paths start at the folder of this file.",
    )


def _source(where: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            # a key of the whole file must stand before the first section
            "",
            _comment("What happens to columns of the source that are not listed here: refuse, keep or drop"),
            'unlisted = "refuse"',
            "",
            "[source]",
            *_keys(Source, where),
            "",
            _comment("A table of everybody, with the same quasi-identifiers, for k-map and delta-presence:"),
            "# [population]",
            '# path = "everybody.csv"',
        ]
    )


def _promises(found: Inspection, k: int, chosen: list[Mapping[str, Any]]) -> str:
    lines = [
        "",
        _comment(
            "What is promised about every released record. All promises must hold, or nothing is released. Models: "
            "k-anonymity, l-diversity, t-closeness, k-map, delta-presence, maximum risk, average risk, ..."
        ),
        *([] if chosen else _size(found, k)),
    ]
    for promise in chosen:
        lines += ["", "[[privacy]]", *(f"{key} = {_value(value)}" for key, value in promise.items())]
    for column in () if chosen else found.columns:
        for promise in promises_of(column):
            lines += [
                "",
                "[[privacy]]",
                f'model = "{promise["model"]}"  # and those records have at least l different values of the column',
                f"l = {promise['l']}",
                f"column = {_text(column.name)}",
            ]
    return "\n".join(lines)


def _size(found: Inspection, k: int) -> list[str]:
    """The promise about the size of classes, in people where they have several rows."""
    people = found.having("person")
    if not people:
        about = "every combination of quasi-identifiers is shared by at least k records"
        return ["[[privacy]]", f'model = "k-anonymity"  # {about}', f"k = {k}"]
    about = "every combination of quasi-identifiers is shared by at least k people"
    return ["[[privacy]]", f'model = "(X,Y)-anonymity"  # {about}', f"k = {k}", f"person = {_text(people[0])}"]


def _steps() -> str:
    """How a step would be spelled; a draft has none, since nothing tells what readers can do without."""
    return "\n".join(
        [
            "",
            _comment(str(Project.model_fields["steps"].description)),
            "# [[steps]]",
            f'# name = "sampling"  # {_said(Step, "name")}',
            f"# columns = []  # {_said(Step, 'columns')}",
            f"# [steps.parameters]  # {_said(Step, 'parameters')}",
        ]
    )


def _method(found: Inspection, method: str | None) -> str:
    holding = [KINDS[c.kind].sets for c in found.columns if c.role == "quasi-identifier"]
    flat, sets = holding.count(False), any(holding)
    chosen = _usual(flat if sets else max(1, flat)) if method is None else find_method(method)
    return "\n".join(
        [
            "",
            "[method]",
            _named(chosen),
            _comment(f"{_said(Method, 'name')} and tells which fit"),
            "# [method.parameters]  # " + _said(Method, "parameters"),
            *(_set_method() if sets and flat else ()),
        ]
    )


def _usual(columns: int) -> Registered:
    """The method that a draft begins with, by the number of columns that hold one value a cell."""
    return next(found for found in methods() if found.drafted is not None and columns in found.drafted.columns)


def _named(method: Registered) -> str:
    """The line that names a method, with why it was taken."""
    return f"name = {_text(method.name)}" + (f"  # {method.drafted.why}" if method.drafted is not None else "")


def _set_method() -> list[str]:
    return [
        "",
        _comment(str(Project.model_fields["set_method"].description)),
        "[set_method]",
        _named(_usual(0)),
    ]


def _release(path: str, folder: str, suppression: float) -> str:
    given: dict[str, Any] = {"folder": folder, "suppression": suppression}
    if "://" in path:
        given["file"] = "released.csv"
    engine = _comment(str(Project.model_fields["engine"].description))
    return "\n".join(["", "[release]", *_keys(Target, given), "", engine, "# [engine]", *_keys(EngineChoice, {})])


def _columns(found: Inspection, hierarchies: Mapping[str, str]) -> str:
    roles = [f"    {name}: {role.about}" for name, role in ROLES.items()]
    kinds = [f"    {name}: {kind.about}" for name, kind in KINDS.items()]
    rest = [
        f"    {name}: {_said(Column, name)}{_default(Column, name)}"
        for name in Column.model_fields
        if name not in ("role", "kind")
    ]
    explained = ["Columns. Keys of each:", "  role", *roles, "  kind", *kinds, "  and where they apply", *rest]
    lines = ["", *(f"# {line}" for line in explained)]
    for column in found.columns:
        lines += ["", *_column(column, hierarchies.get(column.name))]
    return "\n".join(lines) + "\n"


def _column(column: Inspected, hierarchy: str | None) -> Iterable[str]:
    seen = column.profile
    facts = f"{seen.distinct:,} different value{'' if seen.distinct == 1 else 's'}"
    typed = any(value is not None and not isinstance(value, str | tuple | list) for value in seen.values)
    becomes = (
        ["released as text where it is generalized or suppressed"]
        if typed and column.role == "quasi-identifier"
        else []
    )
    yield _comment("; ".join([facts, *column.notes, *becomes]))
    yield f"[columns.{_key(column.name)}]"
    yield f'role = "{column.role}"  # {_doubt(column)}{" ".join(visible(column.reason).split())}'
    if ROLES[column.role].released and column.empty:
        yield f"empty = [{', '.join(map(_text, column.empty))}]"
    if not ROLES[column.role].described:
        return
    yield f'kind = "{column.kind}"'
    meaning = column.meaning
    if meaning is not None and hierarchy is None:
        yield _comment(f"{meaning.taxonomy} {meaning.reason}")
        yield f"taxonomy = {_text(meaning.taxonomy)}"
        if meaning.domain is not None:
            yield f"domain = {_text(meaning.domain)}  # its words are below this concept"
        elif meaning.domains:
            yield f"domain = [{', '.join(map(_text, meaning.domains))}]  # its words are below these concepts"
        if meaning.language is not None:
            yield f"language = {_text(meaning.language)}"
        if meaning.within:
            yield f"within = [{', '.join(map(_text, meaning.within))}]  # where its places lie"
        if meaning.suggested:
            yield 'suggestions = "ask"  # "accept" lets the last noun of a phrase stand for it'
    banded = column.in_bands
    if column.format is not None and (banded or column.role == "quasi-identifier"):
        yield f"format = {_text(column.format)}"
    if banded:
        yield f"width = {column.width():g}  # released in bands: exact numbers point at people"
    elif column.points_at_people:
        yield 'accept = "identifying"  # released as it is, as you said: exact numbers point at people'
    if column.order is not None:
        yield f"order = [{', '.join(map(_text, column.order))}]"
    if column.delimiter is not None:
        yield f"delimiter = {_text(column.delimiter)}"
    yield from _levels(column, hierarchy)


def _levels(column: Inspected, hierarchy: str | None) -> Iterable[str]:
    """How a column generalizes and how much that counts; a sensitive one may have a hierarchy to be compared by."""
    if column.role == "quasi-identifier":
        yield f"hierarchy = {_text(hierarchy or 'auto')}"
        if column.weight != 1:
            yield f"weight = {column.weight!r}"
    elif hierarchy is not None and column.role == "sensitive":
        yield f"hierarchy = {_text(hierarchy)}"


def _doubt(column: Inspected) -> str:
    return "please check: " if column.confidence == "unsure" else ""


# ---- spelling --------------------------------------------------------------------------------------------------------


def _keys(part: type[Any], given: Mapping[str, Any]) -> list[str]:
    """Every key of a section with what it means; those that are not given are commented out."""
    lines = []
    for name in part.model_fields:
        known = name in given
        value = given[name] if known else part.model_fields[name].default
        spelled = _value(value) if known or value is not None else '"..."'
        lines.append(f"{'' if known else '# '}{name} = {spelled}  # {_said(part, name)}")
    return lines


def _said(part: type[Any], name: str) -> str:
    found = part.model_fields[name].description
    # an annotated field carries its description in its metadata
    return str(found or "")


def _default(part: type[Any], name: str) -> str:
    value = part.model_fields[name].default
    return "" if value is None else f" (default {_value(value)})"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else str(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _comment(*paragraphs: str) -> str:
    """Paragraphs as comments; names of files and columns in them cannot end a line, nor hold what TOML forbids."""
    return "\n".join(f"# {line}" for text in paragraphs for line in textwrap.wrap(visible(text), _WIDTH))
