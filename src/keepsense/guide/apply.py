"""Put advice into a project file: change its method and promises line by line, and leave everything else as it is.

Comments, order and spacing stay. What comes out is read again and compared with what was meant; a file that is written
in a way this does not understand is refused, never half changed.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput
from keepsense.files import whole_file
from keepsense.methods.registry import method as find_method
from keepsense.project.file import Project, check_project
from keepsense.project.lines import is_key, loaded, pairs, same, sections, spelled, with_key, with_promises


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
    >>> from keepsense.draft.write import draft
    >>> from keepsense.project.inspection.inspect import inspect
    >>> job = example_job()
    >>> text = draft(inspect(str(job.folder / "people.csv")), source={"path": "people.csv"})
    >>> write(job.folder / "keepsense.toml", text).source.path
    'people.csv'
    """
    from keepsense.project.file import read_project

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
