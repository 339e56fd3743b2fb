"""Put advice into a project file: change its method and promises line by line, and leave everything else as it is.

Comments, order and spacing stay. What comes out is read again and compared with what was meant; a file that is written
in a way this does not understand is refused, never half changed.
"""

from __future__ import annotations

import copy
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput
from keepsense.files import parsed_toml, whole_file
from keepsense.methods.registry import method as find_method
from keepsense.project.file import Project, check_project

_KEY = re.compile(r"""^\s*([A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*=""")


def changed(
    text: str,
    *,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    set_method: str | None = None,
    privacy: Sequence[Mapping[str, Any]] | None = None,
    roles: Mapping[str, str] | None = None,
    name: str = "keepsense.toml",
) -> str:
    """A project file's text with another method, other promises or other roles; what is None stays.

    >>> old = '[source]\\npath = "p.csv"  # mine\\n[[privacy]]\\nmodel = "k-anonymity"\\nk = 5\\n'
    >>> new = changed(old, method="mondrian")
    >>> print(new.splitlines()[1], "...", new.splitlines()[-1])
    path = "p.csv"  # mine ... name = "mondrian"
    """
    data = _loaded(text, name)
    wanted = copy.deepcopy(data)
    lines = text.splitlines()
    if privacy is not None and [dict(promise) for promise in privacy] != data.get("privacy"):
        wanted["privacy"] = [dict(promise) for promise in privacy]
        lines = _with_promises(lines, privacy)
    if method is not None:
        wanted["method"] = {"name": method, **({"parameters": dict(parameters)} if parameters else {})}
        if wanted["method"] != data.get("method"):
            lines = _with_method(lines, "method", method, parameters or {})
    if set_method is not None:
        wanted["set_method"] = {"name": set_method}
        if wanted["set_method"] != data.get("set_method"):
            lines = _with_method(lines, "set_method", set_method, {})
    for column, role in (roles or {}).items():
        if column not in wanted.get("columns", {}):
            raise BadInput(f"{name}: there is no section [columns.{column}] to give the role {role!r}")
        if wanted["columns"][column].get("role") == role:
            continue
        wanted["columns"][column]["role"] = role
        lines = _with_role(lines, column, role)
    project = check_project(wanted, name)
    for chosen in (project.method.name, project.set_method.name):
        find_method(chosen)
    made = "\n".join(lines) + "\n"
    try:
        same = parsed_toml(made) == wanted
    except ValueError:
        same = False
    if not same:
        raise BadInput(
            f"{name}: it is written in a way that cannot be changed line by line; nothing was changed. Put the "
            "recommended lines into it yourself"
        )
    return made


def difference(old: str, new: str, name: str) -> str:
    """What a change does, as lines that go (-) and lines that come (+).

    >>> print(difference("a = 1", "a = 2", "x.toml"))
    -a = 1
    +a = 2
    """
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, n=1, lineterm="")
    return "\n".join(line for line in list(lines)[2:] if not line.startswith("@@"))


def write(path: Path, text: str) -> Project:
    """Write a project file in one go, and read it again.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.draft.write import draft
    >>> from keepsense.project.inspect import inspect
    >>> job = example_job()
    >>> text = draft(inspect(str(job.folder / "people.csv")), source={"path": "people.csv"})
    >>> write(job.folder / "keepsense.toml", text).source.path
    'people.csv'
    """
    from keepsense.project.file import read_project

    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return read_project(path)


def spelled(value: object) -> str:
    """A value as project files spell it.

    >>> spelled(True), spelled("a b"), spelled([1, 2])
    ('true', '"a b"', '[1, 2]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(k))} = {spelled(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(spelled(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else spelled(name)


def _loaded(text: str, name: str) -> dict[str, Any]:
    try:
        return parsed_toml(text)
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from None


# ---- lines -----------------------------------------------------------------------------------------------------------


Section = tuple[tuple[str, ...], int, int]
"""Keys of a header, its line, and the line after the section."""


def _sections(lines: Sequence[str]) -> list[Section]:
    """All sections; blank lines and comments before a header belong to it."""
    starts = [(keys, i) for i, line in enumerate(lines) if (keys := _header(line)) is not None]
    ends = [i for _, i in starts[1:]] + [len(lines)]
    return [(keys, i, _trimmed(lines, i, end)) for (keys, i), end in zip(starts, ends, strict=True)]


def _header(line: str) -> tuple[str, ...] | None:
    """Keys of a header such as [columns.age], or None for any other line."""
    if not line.lstrip().startswith("["):
        return None
    try:
        data: Any = parsed_toml(line)
    except ValueError:
        return None
    keys: list[str] = []
    while data:
        data = data[0] if isinstance(data, list) else data
        for key in data:
            keys.append(key)
            data = data[key]
            break
    return tuple(keys)


def _trimmed(lines: Sequence[str], start: int, end: int) -> int:
    """Blank lines and comments at the end of a section are about the next one."""
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _with_method(lines: list[str], section: str, method: str, parameters: Mapping[str, Any]) -> list[str]:
    places = {keys: (start, end) for keys, start, end in _sections(lines)}
    settings = ["", f"[{section}.parameters]", *_pairs(parameters)] if parameters else []
    named = [f"name = {spelled(method)}"]
    if (section,) not in places:
        return [*lines, "", f"[{section}]", *named, *settings]
    start, end = places[section,]
    gone = range(*places.get((section, "parameters"), (0, 0)))
    out: list[str] = []
    for i, line in enumerate(lines):
        if i == start:
            own = [other for other in lines[start + 1 : end] if not _is_key(other, "name", "parameters")]
            out += [line, *named, *own, *settings]
        elif not start < i < end and i not in gone:
            out.append(line)
    return out


def _pairs(values: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {spelled(value)}" for name, value in values.items()]


def _is_key(line: str, *names: str) -> bool:
    key = _KEY.match(line)
    return key is not None and key.group(1).strip("\"'") in names


def _with_promises(lines: list[str], privacy: Sequence[Mapping[str, Any]]) -> list[str]:
    blocks = [(start, end) for keys, start, end in _sections(lines) if keys == ("privacy",)]
    made: list[str] = []
    for promise in privacy:
        made += [*([""] if made else []), "[[privacy]]", *_pairs(promise)]
    if not blocks:
        return [*lines, "", *made]
    out: list[str] = []
    for i, line in enumerate(lines):
        if i == blocks[0][0]:
            out += made
        if not any(start <= i < end for start, end in blocks):
            out.append(line)
    return out


def _with_role(lines: list[str], column: str, role: str) -> list[str]:
    for keys, start, end in _sections(lines):
        if keys == ("columns", column):
            named = [i for i in range(start + 1, end) if _is_key(lines[i], "role")]
            at = named[0] if named else start + 1
            return [*lines[:at], f"role = {spelled(role)}", *lines[at + (1 if named else 0) :]]
    return lines
