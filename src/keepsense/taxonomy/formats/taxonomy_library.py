"""The library of taxonomies by name: embedded ones, those that a user imported, or any file that a loader reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import as_file
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsense.errors import BadInput, did_you_mean
from keepsense.taxonomy.code_systems import SYSTEMS, code_taxonomy
from keepsense.taxonomy.embedded_taxonomies import EMBEDDED, WORDNET, embedded

if TYPE_CHECKING:
    from keepsense.taxonomy.taxonomy import Identity, Taxonomy

__all__ = ["WORDNET", "check_name", "facts", "find", "folder", "imported", "made_with", "names", "read"]
SUFFIX = ".taxonomy"


def folder() -> Path:
    """Where imported taxonomies are kept: `KEEPSENSE_HOME`, or the place the system has for programs' data.

    >>> folder().name
    'taxonomies'
    """
    if home := os.environ.get("KEEPSENSE_HOME"):
        return Path(home) / "taxonomies"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home())
    else:
        base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "keepsense" / "taxonomies"


def imported() -> dict[str, Path]:
    """Imported taxonomies by name.

    >>> "wordnet" in imported()
    False
    """
    return {path.stem: path for path in sorted(folder().glob(f"*{SUFFIX}"))}


def names() -> list[str]:
    """Every taxonomy there is, by name: the embedded ones, WordNet first, then the imported ones.

    >>> names()[:2]
    ['wordnet', 'oewn']
    """
    return [*EMBEDDED, *imported()]


def facts(name: str, taxonomy: Taxonomy) -> dict[str, str | int]:
    """What a person wants to know of a taxonomy before using it: what it knows, its licence, and the file's bytes.

    >>> facts("oewn", find("oewn"))["licence"]
    'CC BY 4.0'
    """
    if name in EMBEDDED:
        entry = EMBEDDED[name]
        with as_file(entry.file) as path:
            return {"knows": entry.knows, "licence": entry.licence, "bytes": path.stat().st_size}
    source = imported().get(name, Path(name))
    return {
        "knows": taxonomy.info.get("source", "imported by you"),
        "licence": taxonomy.info.get("licence", "that of its source"),
        **({"bytes": source.stat().st_size} if source.is_file() else {}),
    }


def find(name: str, values: Callable[[], Iterable[object]] | None = None) -> Taxonomy:
    """The taxonomy of that name, or the one in that file, whose tops are joined where it has several.

    A classification by codes (`naics`) whose official file was not imported is made from the `values` of its column.

    >>> find("wordnet").name
    'WordNet 3.0'
    """
    from keepsense.taxonomy.taxonomy import Taxonomy

    if name in EMBEDDED:
        return embedded(name)
    if path := imported().get(name):
        return Taxonomy.load(path)
    if Path(name).exists():
        return read(name, join_roots=True)  # several tops get one above them; whoever wants to know imports the file
    if name in SYSTEMS and values is not None:
        return code_taxonomy(name, values())
    if name in SYSTEMS:
        raise BadInput(
            f"{name}: the taxonomy is made from the codes of a column, and there is none here; import the official file"
            f" with `keepsense taxonomy import FILE --name {name}`"
        )
    known = names()
    raise BadInput(
        f"no taxonomy is called {name!r} and there is no such file; there are: {', '.join(known)}."
        f"{did_you_mean(name, known)} `keepsense taxonomy import FILE` adds one."
    )


def made_with(file: str, stated: Identity, values: Callable[[], Iterable[object]] | None = None) -> Taxonomy:
    """The taxonomy that a file states, among those that are here; where it is not, somebody has to give it.

    A classification that was made from the codes of a column is made again from the `values` in the file.

    >>> from keepsense.taxonomy.taxonomy import identity
    >>> made_with("jobs.json", identity(find("icd9cm"))).name
    'ICD-9-CM'
    """
    title = stated.name if stated.fingerprint else stated.name.partition(": ")[0]
    alike = [name for name in names() if _title(name) == title]
    for name in alike:
        if not stated.fingerprint or find(name).fingerprint == stated.fingerprint:
            return find(name)
    if alike:
        return find(alike[0])  # whoever reads the file says that it has changed
    if values is not None and (system := next((s.name for s in SYSTEMS.values() if s.title == title), None)):
        return code_taxonomy(system, values())
    raise BadInput(f"{file}: made with the taxonomy {stated}, which is not here; give it with --taxonomy, or import it")


def _title(name: str) -> str:
    from keepsense.taxonomy.taxonomy_file import title

    if path := imported().get(name):
        return title(path)
    with as_file(EMBEDDED[name].file) as path:
        return title(path)


def read(
    source: str, format: str | None = None, join_roots: bool = False, options: Mapping[str, str] | None = None
) -> Taxonomy:
    """Read a taxonomy from a file or folder, or from an installed package: `icd-10-cm`, or `wn:` and a lexicon.

    `options` are those of the format's loader, written as texts: `{"closed": "no"}`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "food.csv"
    ...     _ = file.write_text("child,parent\\nmilk,drink\\ntea,drink\\n")
    ...     len(read(str(file)))
    3
    """
    from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, find_format

    joined: dict[str, Any] = {"join_roots": True} if join_roots else {}
    texts = dict(options or {})
    for loader in LOADERS.values() if not Path(source).exists() else ():
        name = loader.source
        if name and (source.startswith(name) if name.endswith(":") else source.casefold() == name):
            return loader.open(source.removeprefix(name), joined | loader.spelled(texts))
    loader = LOADERS[find_format(source, encoding=texts.get("encoding")) if format is None else format]
    return loader.open(source, joined | loader.spelled(texts))


def check_name(name: str) -> str:
    """The name under which a taxonomy may be imported: one plain word, and not that of an embedded one.

    >>> check_name("jobs")
    'jobs'
    """
    if name in EMBEDDED:
        raise BadInput(f"{name!r} is an embedded taxonomy; choose another name with --name")
    if not name or name.startswith(".") or any(mark in name for mark in '/\\:*?"<>|\0'):
        raise BadInput(f"{name!r} cannot be the name of a taxonomy; choose one without slashes and colons with --name")
    return name
