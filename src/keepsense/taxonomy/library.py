"""Taxonomies by name: the embedded WordNet, those a user imported, or any file that a loader reads."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsense.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from keepsense.taxonomy import Taxonomy

WORDNET = "wordnet"
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


def find(name: str) -> Taxonomy:
    """The taxonomy of that name, or the one in that file, whose tops are joined where it has several.

    >>> find("wordnet").name
    'WordNet 3.0'
    """
    from keepsense.taxonomy import Taxonomy, wordnet

    if name == WORDNET:
        return wordnet()
    if path := imported().get(name):
        return Taxonomy.load(path)
    if Path(name).exists():
        return read(name, join_roots=True)  # several tops get one above them; whoever wants to know imports the file
    known = [WORDNET, *imported()]
    raise BadInput(
        f"no taxonomy is called {name!r} and there is no such file; there are: {', '.join(known)}."
        f"{did_you_mean(name, known)} `keepsense taxonomy import FILE` adds one."
    )


def read(source: str, format: str | None = None, join_roots: bool = False) -> Taxonomy:
    """Read a taxonomy from a file or folder, or from an installed package: `icd-10-cm`, or `wn:` and a lexicon.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "food.csv"
    ...     _ = file.write_text("child,parent\\nmilk,drink\\ntea,drink\\n")
    ...     len(read(str(file)))
    3
    """
    from keepsense.taxonomy.loaders.detect import LOADERS, read_taxonomy

    options: dict[str, Any] = {"join_roots": True} if join_roots else {}
    for loader in LOADERS.values() if not Path(source).exists() else ():
        name = loader.source
        if name and (source.startswith(name) if name.endswith(":") else source.casefold() == name):
            return loader.read(source.removeprefix(name), **options)
    return read_taxonomy(source, format, **options)


def check_name(name: str) -> str:
    """The name under which a taxonomy may be imported: one plain word, and not that of the embedded one.

    >>> check_name("jobs")
    'jobs'
    """
    if name == WORDNET:
        raise BadInput(f"{WORDNET!r} is the embedded taxonomy; choose another name with --name")
    if not name or name.startswith(".") or any(mark in name for mark in '/\\:*?"<>|\0'):
        raise BadInput(f"{name!r} cannot be the name of a taxonomy; choose one without slashes and colons with --name")
    return name
