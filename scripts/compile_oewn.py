"""Compile the nouns of Open English WordNet into the file that ships inside the package.

    python scripts/compile_oewn.py ARCHIVE [--counts cntlist.rev] [--version 2026] [OUTPUT]

ARCHIVE holds the project's sources, `noun.*.yaml` and `entries-*.yaml` (a tar file, as the sources are published). How
often each sense was tagged is Princeton's count for the sense key, where WordNet's file of counts is given; Debian's
package `wordnet-base` has it. Needs PyYAML. Definitions are left out: only their stemmed words are kept.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from keepsense.taxonomy.formats.wordnet_database import Synsets, from_synsets, read_counts
from keepsense.taxonomy.taxonomy import Taxonomy

COUNTS = Path("/usr/share/wordnet/cntlist.rev")
EMBEDDED = Path(__file__).resolve().parents[1] / "src" / "keepsense" / "taxonomy" / "data" / "oewn.taxonomy"
LINKS = {
    "hypernym": "@",
    "instance_hypernym": "@i",
    "mero_part": "%p",
    "mero_member": "%m",
    "mero_substance": "%s",
}
LICENCE = "CC BY 4.0 (the Open English WordNet team), derived from WordNet (Princeton University)"

Entries = dict[str, dict[str, Any]]


def documents(archive: Path, start: str) -> Iterator[Entries]:
    """The mappings of the archive's files whose names start so, in the order of the names."""
    with tarfile.open(archive) as tar:
        members = {Path(member.name).name: member for member in tar.getmembers() if member.isfile()}
        for name in sorted(members):
            if name.startswith(start) and name.endswith(".yaml"):
                file = tar.extractfile(members[name])
                assert file is not None
                # texts only: else the word "no" would be a truth value
                yield yaml.load(file, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def synsets_of(archive: Path) -> Synsets:
    """All noun synsets, by their ids."""
    rows = {key: row for part in documents(archive, "noun.") for key, row in part.items()}
    found = Synsets()
    for code, key in enumerate(sorted(rows)):
        row = rows[key]
        found.code[key] = code
        found.names.append(list(dict.fromkeys(row["members"])))
        examples = [e if isinstance(e, str) else e.get("text", "") for e in row.get("example", ())]
        found.glosses.append("; ".join([*row["definition"], *examples]))
        found.keys.append([])
        found.links += [
            (code, symbol, target, code)
            for kind, symbol in LINKS.items()
            for target in row.get(kind, ())
            if target in rows
        ]
    return found


def senses_of(
    archive: Path, synsets: Synsets, counts: dict[str, int]
) -> tuple[dict[str, list[int]], tuple[list[str], list[str]]]:
    """Synsets of each lower-case name in sense order, and irregular forms with their bases; sense keys are added.

    Entries that differ in case only are merged by how often their senses were tagged; each keeps its own order.
    """
    entries: dict[str, list[tuple[str, list[dict[str, Any]]]]] = {}
    forms: list[tuple[str, str]] = []
    for part in documents(archive, "entries-"):
        for name, kinds in part.items():
            for kind, entry in kinds.items():
                if kind == "n" or kind.startswith("n-"):
                    entries.setdefault(name.lower(), []).append((name, entry["sense"]))
                    forms += [(form, name) for form in entry.get("form", ())]
    senses: dict[str, list[int]] = {}
    for lemma, rows in entries.items():
        ranked: list[tuple[int, int]] = []
        for _, row in sorted(rows, key=lambda r: r[0] != lemma):
            seldom = sys.maxsize
            for sense in row:
                code = synsets.code[sense["synset"]]
                synsets.keys[code].append(sense["id"])
                seldom = min(seldom, counts.get(sense["id"], 0))
                ranked.append((-seldom, code))
        senses[lemma] = list(dict.fromkeys(code for _, code in sorted(ranked, key=lambda pair: pair[0])))
    pairs = sorted(set(forms))
    return senses, ([form for form, _ in pairs], [base for _, base in pairs])


def compiled(archive: Path, counts_file: Path, version: str) -> Taxonomy:
    """The taxonomy of the archive."""
    counts = read_counts(counts_file)
    synsets = synsets_of(archive)
    senses, irregular = senses_of(archive, synsets, counts)
    name = f"Open English WordNet {version}"
    info = {"source": f"{name}, nouns (en-word.net)", "licence": LICENCE}
    return from_synsets(synsets, senses, irregular, counts, name=name, info=info, glosses=False)


def main(arguments: list[str] | None = None) -> int:
    """Compile, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("output", nargs="?", type=Path, default=EMBEDDED)
    parser.add_argument("--counts", type=Path, default=COUNTS)
    parser.add_argument("--version", default="2026")
    chosen = parser.parse_args(arguments)
    taxonomy = compiled(chosen.archive, chosen.counts, chosen.version)
    taxonomy.save(chosen.output, compress=True)
    print(f"{chosen.output.name}: {taxonomy!r}, {chosen.output.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
