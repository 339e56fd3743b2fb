"""Compile from a WordNet database the word list by which noun phrases are found.

    python scripts/compile_lexicon.py [FOLDER] [OUTPUT]

For every single word that WordNet lists as a verb, adjective or adverb, the list says so, whether it is a noun too,
and whether it is one more often than not (by the sense counts of `cntlist.rev`). Words that are nouns only need no
entry. The same database always gives the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path

DEBIAN = Path("/usr/share/wordnet")
EMBEDDED = Path(__file__).resolve().parents[1] / "src" / "keepsense" / "methods" / "aggregate" / "data" / "words.z"
KINDS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
SENSE_KINDS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}


def main(arguments: list[str] | None = None) -> int:
    """Compile, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEBIAN)
    parser.add_argument("output", nargs="?", type=Path, default=EMBEDDED)
    chosen = parser.parse_args(arguments)
    packed = zlib.compress(lexicon(chosen.folder).encode("ascii"), 9)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_bytes(packed)
    print(f"{chosen.output.name}: {len(packed):,} bytes")
    return 0


def lexicon(folder: Path) -> str:
    """One line a word: the word, a space, its kinds, the likeliest first (`watch vn`)."""
    senses: dict[str, Counter[str]] = defaultdict(Counter)
    for name, kind in KINDS.items():
        for line in (folder / f"index.{name}").read_text(encoding="ascii").splitlines():
            if not line.startswith(" "):
                word, _, number, *_ = line.split()
                # a hundredth of a count for each sense, so that words without counts are ranked too
                senses[word][kind] += float(number) / 100  # type: ignore[assignment]
    for line in (folder / "cntlist.rev").read_text(encoding="ascii").splitlines():
        key, _, count = line.split()
        word, _, rest = key.partition("%")
        if word in senses:
            senses[word][SENSE_KINDS[rest[0]]] += int(count)
    for name, kind in (("verb", "v"), ("adj", "a"), ("adv", "r")):
        for line in (folder / f"{name}.exc").read_text(encoding="ascii").splitlines():
            form = line.split()[0]
            # an irregular form is what its base is, unless it is a word of its own (`left`, `saw`)
            if kind not in senses[form]:
                senses[form][kind] += 0.005 if senses[form] else 1.0  # type: ignore[assignment]
    lines = []
    for word in sorted(senses):
        ranked = "".join(sorted(senses[word], key=lambda kind: (-senses[word][kind], "nvar".index(kind))))
        if word.replace("-", "").isalpha() and ranked != "n" and len(word) > 1:
            lines.append(f"{word} {ranked}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
