"""Change keys, method and promises of a project file: comments, order and spacing of everything else stay.

The changed text is read again and compared with what was meant, so that nothing is ever half changed.
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
from keepsense.methods.method import method as find_method
from keepsense.project.project_file import Project, check_project

Keys = Mapping[tuple[str, ...], object]
"""Values by the place of their key, such as `("columns", "age", "role")`; None takes a key out."""

_KEY = re.compile(r"""^\s*([A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*=""")


def with_keys(text: str, changes: Keys, name: str = "keepsense.toml") -> str:
    """A project file's text with some keys set, or taken out where their value is None.

    The promises, a list of sections, are set as a whole, by the key `("privacy",)`. A file that is written in a way
    that cannot be changed line by line (dotted keys, tables in one line) is written anew, without its comments.

    >>> old = '[source]\\npath = "p.csv"  # mine\\n[columns.job]\\nrole = "sensitive"\\n'
    >>> print(with_keys(old, {("columns", "job", "role"): "quasi-identifier"}), end="")
    [source]
    path = "p.csv"  # mine
    [columns.job]
    role = "quasi-identifier"
    >>> print(with_keys("columns.job.role = 'sensitive'", {("columns", "job", "kind"): "nominal"}), end="")
    [columns.job]
    role = "sensitive"
    kind = "nominal"
    """
    document = loaded(text, name)
    wanted = copy.deepcopy(document)
    lines = text.splitlines()
    for path, value in changes.items():
        if _at(wanted, path) == value:
            continue
        _put(wanted, path, value)
        if path == ("privacy",):
            lines = with_promises(lines, _promises(value))
        else:
            lines = with_key(lines, path, value)
    made = "\n".join(lines) + "\n"
    return made if same(made, wanted) else written(wanted)


def same(text: str, document: Mapping[str, Any]) -> bool:
    """Whether a text says what a document holds.

    >>> same("k = 5", {"k": 5}), same("k = ", {"k": 5})
    (True, False)
    """
    try:
        return parsed_toml(text) == document
    except ValueError:
        return False


def loaded(text: str, name: str) -> dict[str, Any]:
    """The keys of a project file's text, not checked yet.

    >>> loaded("k = 5", "keepsense.toml")
    {'k': 5}
    """
    try:
        return parsed_toml(text)
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from None


def written(document: Mapping[str, Any]) -> str:
    """A whole document as sections of plain keys.

    >>> print(written({"unlisted": "drop", "privacy": [{"model": "k-anonymity", "k": 5}]}), end="")
    unlisted = "drop"
    <BLANKLINE>
    [[privacy]]
    model = "k-anonymity"
    k = 5
    """
    return "\n".join(_section(document, ())).lstrip("\n") + "\n"


def _section(document: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    tables = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    listed = {key: value for key, value in document.items() if _of_tables(value)}
    plain = {key: value for key, value in document.items() if key not in tables and key not in listed}
    lines = ["", f"[{_dotted(path)}]"] if path and (plain or not (tables or listed)) else []
    lines += pairs(plain)
    for key, sections in listed.items():
        for section in sections:
            lines += ["", f"[[{_dotted((*path, key))}]]", *pairs(section)]
    for key, table in tables.items():
        lines += _section(table, (*path, key))
    return lines


def _of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _dotted(path: Sequence[str]) -> str:
    return ".".join(map(_key, path))


# ---- values ----------------------------------------------------------------------------------------------------------


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


def pairs(values: Mapping[str, Any]) -> list[str]:
    """Lines of keys and values.

    >>> pairs({"k": 5})
    ['k = 5']
    """
    return [f"{_key(name)} = {spelled(value)}" for name, value in values.items()]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else spelled(name)


# ---- places ----------------------------------------------------------------------------------------------------------


def _at(document: Mapping[str, Any], path: Sequence[str]) -> object:
    inner: Any = document
    for part in path:
        inner = inner.get(part) if isinstance(inner, Mapping) else None
    return inner


def _put(document: dict[str, Any], path: Sequence[str], value: object) -> None:
    inner: Any = document
    for part in path[:-1]:
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise BadInput(f"{'.'.join(path)}: {part!r} is a key with a value, and holds no others")
    if value is None:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = _promises(value) if path == ("privacy",) else _plain(value)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def _promises(value: Any) -> list[dict[str, Any]]:
    return [dict(promise) for promise in value or ()]


# ---- lines -----------------------------------------------------------------------------------------------------------


Section = tuple[tuple[str, ...], int, int]
"""Keys of a header, its line, and the line after the section."""


def sections(lines: Sequence[str]) -> list[Section]:
    """All sections; blank lines and comments before a header belong to it.

    >>> sections(["[source]", 'path = "p.csv"', "", "# who", "[columns.age]"])
    [(('source',), 0, 2), (('columns', 'age'), 4, 5)]
    """
    starts = [(keys, i) for i, line in enumerate(lines) if (keys := _header(line)) is not None]
    ends = [*(i for _, i in starts), len(lines)][1:]
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


def is_key(line: str, *names: str) -> bool:
    """Whether a line sets one of some keys.

    >>> is_key('"role" = 1', "role"), is_key("# role = 1", "role")
    (True, False)
    """
    key = _KEY.match(line)
    return key is not None and key.group(1).strip("\"'") in names


def with_key(lines: list[str], path: tuple[str, ...], value: object) -> list[str]:
    """The lines with one key set, or taken out where its value is None; a section that is missing comes last.

    >>> with_key(["[columns.age]", 'role = "sensitive"  # its name'], ("columns", "age", "role"), "insensitive")
    ['[columns.age]', 'role = "insensitive"']
    """
    *section, key = path
    line = [] if value is None else pairs({key: value})
    if not section:
        first = next((start for _, start, _ in sections(lines)), len(lines))
        places = [i for i in range(first) if is_key(lines[i], key)]
        return [*lines[: places[0]], *line, *lines[places[0] + 1 :]] if places else [*line, *lines]
    for keys, start, end in sections(lines):
        if keys == tuple(section):
            places = [i for i in range(start + 1, end) if is_key(lines[i], key)]
            at = places[0] if places else end
            return [*lines[:at], *line, *lines[at + (1 if places else 0) :]]
    return [*lines, "", f"[{_dotted(section)}]", *line] if line else lines


def with_promises(lines: list[str], privacy: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines with other promises in place of those that stand there.

    >>> with_promises(["[[privacy]]", "k = 5"], [{"model": "k-anonymity", "k": 3}])
    ['[[privacy]]', 'model = "k-anonymity"', 'k = 3']
    """
    blocks = [(start, end) for keys, start, end in sections(lines) if keys == ("privacy",)]
    made: list[str] = []
    for promise in privacy:
        made += [*([""] if made else []), "[[privacy]]", *pairs(promise)]
    if not blocks:
        return [*lines, "", *made]
    out: list[str] = []
    for i, line in enumerate(lines):
        if i == blocks[0][0]:
            out += made
        if not any(start <= i < end for start, end in blocks):
            out.append(line)
    return out


# Change method and promises, as advice does
#
# A file in a form that is not understood is refused, never half changed.


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
    data = loaded(text, name)
    wanted = copy.deepcopy(data)
    lines = text.splitlines()
    if privacy is not None and [dict(promise) for promise in privacy] != data.get("privacy"):
        wanted["privacy"] = [dict(promise) for promise in privacy]
        lines = with_promises(lines, privacy)
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
        lines = with_key(lines, ("columns", column, "role"), role)
    project = check_project(wanted, name)
    for chosen in (project.method.name, project.set_method.name):
        find_method(chosen)
    made = "\n".join(lines) + "\n"
    if not same(made, wanted):
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
    >>> from keepsense.draft.project_text import draft
    >>> from keepsense.draft.inspection import inspect
    >>> job = example_job()
    >>> text = draft(inspect(str(job.folder / "people.csv")), source={"path": "people.csv"})
    >>> write(job.folder / "keepsense.toml", text).source.path
    'people.csv'
    """
    from keepsense.project.project_file import read_project

    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return read_project(path)


def _with_method(lines: list[str], section: str, method: str, parameters: Mapping[str, Any]) -> list[str]:
    places = {keys: (start, end) for keys, start, end in sections(lines)}
    settings = ["", f"[{section}.parameters]", *pairs(parameters)] if parameters else []
    named = [f"name = {spelled(method)}"]
    if (section,) not in places:
        return [*lines, "", f"[{section}]", *named, *settings]
    start, end = places[section,]
    gone = range(*places.get((section, "parameters"), (0, 0)))
    out: list[str] = []
    for i, line in enumerate(lines):
        if i == start:
            own = [other for other in lines[start + 1 : end] if not is_key(other, "name", "parameters")]
            out += [line, *named, *own, *settings]
        elif not start < i < end and i not in gone:
            out.append(line)
    return out
