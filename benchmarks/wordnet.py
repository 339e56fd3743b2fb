"""The embedded WordNet: how long it takes to load, and how large it is."""

from __future__ import annotations

import json
import tempfile
import time
import warnings
import zlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from benchmarks import _nltk
from benchmarks._registry import Figure, benchmark, best_of, missing, peak_of
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_file import MAGIC

EMBEDDED = Path(str(files("keepsense.taxonomy") / "data" / "wordnet.taxonomy"))
_ALONE = """
import time
import numpy
start = time.process_time()
from keepsense.taxonomy.embedded_taxonomies import wordnet
nouns = wordnet()
print(time.process_time() - start)
nouns.describe("coach#1")
print(time.process_time() - start)
"""


def _unpack() -> int:
    """Read the file and unpack its sections: the least any loader of these bytes has to do."""
    raw = EMBEDDED.read_bytes()
    length = int.from_bytes(raw[len(MAGIC) : len(MAGIC) + 8], "little")
    start = len(MAGIC) + 8 + length
    header = json.loads(raw[len(MAGIC) + 8 : start])
    start += -start % 64
    sections = ((start + s["offset"], s["bytes"]) for s in header["sections"])
    return sum(len(zlib.decompress(raw[offset : offset + size])) for offset, size in sections)


@benchmark("wordnet-load")
def wordnet_load() -> Iterator[Figure]:
    """Load the embedded WordNet, in units of unpacking its bytes and of NLTK opening the database files."""
    size = EMBEDDED.stat().st_size / 1e6
    seconds = best_of(lambda: Taxonomy.load(EMBEDDED), 5, time.process_time)
    unit = best_of(_unpack, 5, time.process_time)
    yield Figure(
        "wordnet-load",
        seconds,
        "CPU s",
        f"reading and unpacking the same {size:.1f} MB",
        seconds / unit,
        "at most 4 times the unit (0.2 s where the unit takes 0.05 s)",
        seconds <= 4 * unit,
    )
    name, bar = "wordnet-load-against-nltk", "at least 10 times faster"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NLTK warns that other languages are not there
        peer = _nltk.reader(Path(folder))
        if peer is None:
            yield missing(name, "NLTK, or WordNet's database files", bar)
        else:
            theirs = best_of(lambda: type(peer)(peer.root, None), clock=time.process_time)
            against = f"NLTK opening the database files ({theirs:.2f} s)"
            yield Figure(name, seconds, "CPU s", against, theirs / seconds, bar, theirs >= 10 * seconds)
    runs = [peak_of(_ALONE) for _ in range(3)]
    bare, _ = peak_of("import numpy")
    first, described = (min(float(printed.split()[i]) for _, printed in runs) for i in (0, 1))
    memory = min(peak for peak, _ in runs)
    yield Figure(
        "wordnet-load-fresh",
        first,
        "CPU s",
        "loading in a warm process",
        first / seconds,
        "< 0.2 s, imports included",
        first < 0.2,
    )
    yield Figure(
        "wordnet-first-lookup",
        described,
        "CPU s",
        "loading alone",
        described / first,
        "at most 6 times loading",
        described <= 6 * first,
    )
    yield Figure(
        "wordnet-memory", memory, "MB", f"a bare NumPy ({bare:.0f} MB)", memory / bare, "< 200 MB", memory < 200
    )
    yield Figure("wordnet-file", size, "MB", "the bar", size / 4, "< 4 MB", size < 4)
