"""Compile the WordNet noun database into the file that ships inside the package.

    python scripts/compile_wordnet.py [FOLDER] [OUTPUT]

FOLDER is a WordNet database folder; by default that of Debian's package `wordnet-base` (WordNet 3.0). The same database
always gives the same bytes (with the same zlib; another zlib may pack the same content differently).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from keepsense.errors import KeepsenseError
from keepsense.taxonomy.formats.wordnet_database import load_wndb

DEBIAN = Path("/usr/share/wordnet")
EMBEDDED = Path(__file__).resolve().parents[1] / "src" / "keepsense" / "taxonomy" / "data" / "wordnet.taxonomy"


def main(arguments: list[str] | None = None) -> int:
    """Compile, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEBIAN)
    parser.add_argument("output", nargs="?", type=Path, default=EMBEDDED)
    chosen = parser.parse_args(arguments)
    try:
        taxonomy = load_wndb(chosen.folder, glosses=False)
    except KeepsenseError as error:
        print(f"compile_wordnet: {error}", file=sys.stderr)
        return 1
    taxonomy.save(chosen.output, compress=True)
    print(f"{chosen.output.name}: {taxonomy!r}, {chosen.output.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
