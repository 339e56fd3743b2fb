"""Keys of a project file changed for one run: another source, another place, any key by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput
from keepsense.files import parsed_toml
from keepsense.project.file import Project, check_project, read_document


def adjusted_project(
    path: str | Path,
    *,
    source: str | Path | None = None,
    output: str | PathLike[str] | None = None,
    settings: Iterable[str] | Mapping[str, Any] = (),
) -> Project:
    """A project file with another source, another place for the release, and some keys set; checked as ever.

    `source` and `output` are paths as one types them, from where one is; the output is a folder, or a file where its
    name has an ending. `settings` are `key=value` as in TOML (`release.suppression=0.02`, `privacy.0.k=10`), where text
    needs no quotes, or a dictionary.

    >>> adjusted_project("/nowhere/keepsense.toml", settings=["method.name=datafly"])
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: keepsense.toml: there is no such project file; write one with `keepsense init`
    """
    document = read_document(path)
    if source is not None:
        _put(document, ["source", "path"], _from_here(str(source)))
    if output is not None:
        target = Path(output)
        folder = target.is_dir() or not target.suffix or str(output).endswith(("/", "\\"))
        _put(document, ["release", "folder"], str((target if folder else target.parent).absolute()))
        if not folder:
            _put(document, ["release", "file"], target.name)
    pairs = settings.items() if isinstance(settings, Mapping) else map(_pair, settings)
    for key, value in pairs:
        _put(document, _parts(key), value)
    return check_project(document, Path(path).name)


def _from_here(path: str) -> str:
    return path if "://" in path else str(Path(path).absolute())


def _pair(setting: str) -> tuple[str, Any]:
    """The key and the value of one setting; what is no value of TOML is text."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"{setting!r} sets nothing; write key=value, for instance release.suppression=0.02")
    try:
        return key.strip(), parsed_toml(f"value = {text.strip()}")["value"]
    except ValueError:
        return key.strip(), text.strip()


def _parts(key: str) -> list[str]:
    """A dotted key divided as TOML divides it, quotes and all."""
    try:
        inner: Any = parsed_toml(f"{key} = 0")
    except ValueError:
        raise BadInput(
            f"{key!r} is no key of a project file; write it as TOML does, for instance method.name"
        ) from None
    parts = []
    while isinstance(inner, dict):
        [(part, inner)] = inner.items()
        parts.append(part)
    return parts


def _put(document: dict[str, Any], parts: list[str], value: Any) -> None:
    """Set one key; a number is a place in a list, and sections that are missing are made."""
    inner: Any = document
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        where: Any = part
        if isinstance(inner, list):
            if not part.isdigit() or int(part) >= len(inner):
                raise BadInput(
                    f"{'.'.join(parts)}: the list has {len(inner)} entries, counted from 0; {part!r} is none"
                )
            where = int(part)
        elif not isinstance(inner, dict):
            raise BadInput(f"{'.'.join(parts)}: {part!r} lies below a key that is no section")
        if following is None:
            inner[where] = value
        else:
            inner = inner[where] if isinstance(inner, list) else inner.setdefault(where, {})
