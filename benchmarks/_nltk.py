"""NLTK's WordNet reader over the database files that Debian's wordnet-base installs, as a peer to compare with."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

WNDB = Path(os.environ.get("WNDB", "/usr/share/wordnet"))

# Names of the lexicographer files in their numbered order, which Debian leaves out and NLTK's reader asks for.
_LEXNAMES = {
    "adj": "all pert",
    "adv": "all",
    "noun": "Tops act animal artifact attribute body cognition communication event feeling food group location motive "
    "object person phenomenon plant possession process quantity relation shape state substance time",
    "verb": "body change cognition communication competition consumption contact creation emotion motion perception "
    "possession social stative weather",
}


def reader(folder: Path) -> Any | None:
    """NLTK's reader on a copy of the files in `folder`, or None where NLTK or the files are missing."""
    try:
        import nltk
        from nltk.corpus.reader.wordnet import WordNetCorpusReader
    except ImportError:
        return None
    if not (WNDB / "data.noun").exists():
        return None
    home = folder / "corpora" / "wordnet"
    home.mkdir(parents=True)
    for source in WNDB.iterdir():
        if source.is_file():
            (home / source.name).write_bytes(source.read_bytes())
    kinds = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}
    names = [(kind, part) for kind, parts in _LEXNAMES.items() for part in parts.split()] + [("adj", "ppl")]
    rows = (f"{i:02}\t{kind}.{part}\t{kinds[kind]}\n" for i, (kind, part) in enumerate(names))
    (home / "lexnames").write_text("".join(rows), encoding="utf-8")
    (home / "index.sense").touch()
    nltk.data.path.append(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that other languages are not there
        return WordNetCorpusReader(str(home), None)
