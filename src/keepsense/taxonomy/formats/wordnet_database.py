"""Folders of the WordNet database (WNDB), as in Debian's `wordnet-base` and in NLTK's corpus.

Nouns only: `data.noun` (synsets and links), `index.noun` (sense order), `noun.exc` (irregular plurals) and, where it is
there, `cntlist.rev` (how often each sense was tagged). The format is that of `wndb(5WN)`; it is the same in 3.0 and
3.1.

Sense numbers are WordNet's own, which ignore case. Where a name occurs in several spellings, the lower-case one has all
senses under WordNet's numbers, and each other spelling only the senses it is written so in: `turkey#2` is the country,
and so is `Turkey`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from keepsense.arrays import Rows, Strings
from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.glosses import GLOSSES, pack_glosses
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_arrays
from keepsense.taxonomy.word_forms import EXCEPTION_BASES, EXCEPTION_FORMS

_IS_A = {"@", "@i"}
_RELATIONS = {"@i": "instance", "%p": "part", "%m": "member", "%s": "substance"}
_VERSION = re.compile(r"WordNet (\d+\.\d+) Copyright")
_OFFSET = re.compile(r"\d{8}")


@dataclass
class Synsets:
    """What `data.noun` holds, in its order: offsets, names, sense keys, glosses, and links with their lines.

    >>> Synsets(version="3.0").code
    {}
    """

    version: str = ""
    code: dict[str, int] = field(default_factory=dict)
    names: list[list[str]] = field(default_factory=list)
    keys: list[list[str]] = field(default_factory=list)
    glosses: list[str] = field(default_factory=list)
    links: list[tuple[int, str, str, int]] = field(default_factory=list)


def load_wndb(folder: str | os.PathLike[str], *, glosses: bool = True) -> Taxonomy:
    """Load the nouns of a WordNet database folder; `glosses=False` leaves the text of glosses out, not their words.

    Concept ids are WordNet's offsets with their part of speech (`00001740-n`). Instances (`Paris`) are below what they
    are instances of; the relation `instance` tells those links apart. Takes a few seconds; save the taxonomy
    (`Taxonomy.save`) to load it in a fraction of one.

    >>> load_wndb("/nowhere/dict")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: dict: no such folder; give the folder that holds data.noun and index.noun
    """
    place = Path(folder)
    if not place.is_dir():
        raise BadTaxonomy(f"{place.name}: no such folder; give the folder that holds data.noun and index.noun")
    synsets = _read_data(place / "data.noun")
    code = synsets.code
    if not code:
        raise BadTaxonomy("data.noun: the file holds no synset; give a complete WordNet database folder")
    senses = _read_index(place / "index.noun", synsets)
    irregular = place / "noun.exc"
    forms, bases = _read_exceptions(irregular) if irregular.exists() else ([], [])
    counts = read_counts(place / "cntlist.rev")
    name = f"WordNet {synsets.version}".strip()
    info = {"source": f"{name} noun database", "licence": "WordNet License (Princeton University)"}
    return from_synsets(synsets, senses, (forms, bases), counts, name=name, info=info, glosses=glosses)


def from_synsets(
    synsets: Synsets,
    senses: dict[str, list[int]],
    exceptions: tuple[list[str], list[str]],
    counts: dict[str, int],
    *,
    name: str,
    info: dict[str, str],
    glosses: bool,
) -> Taxonomy:
    """The taxonomy of synsets, of each lower-case name's synsets in sense order, of irregular forms and tag counts.

    >>> synsets = Synsets()
    >>> for number, (key, names) in enumerate({"1-n": ["animal"], "2-n": ["Cat", "cat"]}.items()):
    ...     synsets.code[key] = number
    ...     for table, entry in ((synsets.names, names), (synsets.keys, []), (synsets.glosses, "")):
    ...         table.append(entry)
    >>> synsets.links.append((1, "@", "1-n", 1))
    >>> tiny = from_synsets(synsets, {"cat": [1]}, ([], []), {}, name="tiny", info={}, glosses=False)
    >>> tiny.label(tiny.root), tiny.synonyms("cat")
    ('animal', ['Cat', 'cat'])
    """
    code = synsets.code
    child: list[int] = []
    parent: list[int] = []
    related: dict[str, tuple[list[int], list[int]]] = {kind: ([], []) for kind in _RELATIONS.values()}
    for source, symbol, target, line in synsets.links:
        if target not in code:
            raise _bad("data.noun", line, f"a link {symbol} leads to the synset {target}, which is not in the file")
        if symbol in _IS_A:
            child.append(source)
            parent.append(code[target])
        if symbol in _RELATIONS:
            related[_RELATIONS[symbol]][0].append(source)
            related[_RELATIONS[symbol]][1].append(code[target])
    extra, tables = pack_glosses(synsets.glosses)
    if glosses:
        tables[GLOSSES] = Strings.of(text.replace("\0", " ") for text in synsets.glosses)
    if exceptions[0]:  # else look-ups take those of the WordNet inside
        tables[EXCEPTION_FORMS], tables[EXCEPTION_BASES] = (Strings.of(column) for column in exceptions)
    taxonomy = from_arrays(
        [key if key.endswith("-n") else f"{key}-n" for key in code],
        synsets.names,
        np.array(child, dtype=np.int32),
        np.array(parent, dtype=np.int32),
        relations={kind: (np.array(a, np.int32), np.array(b, np.int32)) for kind, (a, b) in related.items()},
        name=name,
        info=info,
        extra=extra,
        tables=tables,
    )
    return _with_senses(taxonomy, synsets, senses, counts)


def _with_senses(
    taxonomy: Taxonomy, synsets: Synsets, senses: dict[str, list[int]], counts: dict[str, int]
) -> Taxonomy:
    """The taxonomy with each name's synsets in WordNet's order and their tag counts."""
    terms = list(taxonomy.terms)
    spellings: dict[str, list[int]] = {}
    for position, term in enumerate(terms):
        spellings.setdefault(term.lower(), []).append(position)
    holders = taxonomy.names.reversed(len(terms))
    named = [set(holders[position].tolist()) for position in range(len(terms))]
    rows: list[list[int]] = [[] for _ in terms]
    for lemma, variants in spellings.items():
        everything = senses.get(lemma, [])
        for position in variants:
            whole = len(variants) == 1 or terms[position] == lemma
            own = named[position]
            rows[position] = [c for c in everything if whole or c in own]
            rows[position] += sorted(own.difference(rows[position]))  # names the index forgot come last
        if len(variants) > 1 and not any(terms[p] == lemma for p in variants):
            terms.append(lemma)
            rows.append(everything)
    keyed = {(key.partition("%")[0], c): key for c, keys in enumerate(synsets.keys) for key in keys}
    flat = [c for row in rows for c in row]
    owner = [term.lower().replace(" ", "_") for term, row in zip(terms, rows, strict=True) for _ in row]
    tagged = [counts.get(keyed.get((o, c), ""), 0) for o, c in zip(owner, flat, strict=True)]
    starts = np.zeros(len(terms) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    return replace(
        taxonomy,
        terms=Strings.of(terms),
        senses=Rows(starts, np.array(flat, dtype=np.int32)),
        sense_counts=np.array(tagged, dtype=np.int32),
    )


def _read_data(path: Path) -> Synsets:
    found = Synsets()
    for number, line in _lines(path):
        if line.startswith("  "):
            version = _VERSION.search(line)
            found.version = version.group(1) if version else found.version
            continue
        head, bar, gloss = line.partition("|")
        parts = head.split()
        try:
            offset, file_number, _, size = parts[:4]
            words = parts[4 : 4 + 2 * int(size, 16)]
            links = parts[4 + len(words) + 1 :]
            good = _OFFSET.fullmatch(offset) and bar and words and len(words) == 2 * int(size, 16)
            good = good and len(links) == 4 * int(parts[4 + len(words)])
            good = good and all(_is_hex(lexical) and len(lexical) < 9 for lexical in words[1::2])
            if not good or not file_number.isdigit():
                raise ValueError
        except (ValueError, IndexError):
            raise _bad(path.name, number, "not a synset in WordNet's database format") from None
        if offset in found.code:
            raise _bad(path.name, number, f"the synset {offset} occurs a second time")
        code = found.code[offset] = len(found.code)
        lemmas = words[::2]
        found.names.append(list(dict.fromkeys(w.replace("_", " ") for w in lemmas)))
        found.keys.append(
            [f"{w.lower()}%1:{file_number}:{int(x, 16):02}::" for w, x in zip(lemmas, words[1::2], strict=True)]
        )
        found.glosses.append(gloss.strip())
        for symbol, target, kind in zip(links[::4], links[1::4], links[2::4], strict=True):
            if kind == "n" and (symbol in _IS_A or symbol in _RELATIONS):
                found.links.append((code, symbol, target, number))
    return found


def _is_hex(text: str) -> bool:
    return int(text, 16) >= 0


def _read_index(path: Path, synsets: Synsets) -> dict[str, list[int]]:
    """Synsets of each lower-case name (with spaces) in sense order."""
    senses: dict[str, list[int]] = {}
    for number, line in _lines(path):
        if line.startswith("  "):
            continue
        parts = line.split()
        try:
            lemma, kind, size = parts[0], parts[1], int(parts[2])
            offsets = parts[6 + int(parts[3]) :]
            if kind != "n" or not size or len(offsets) != size or lemma.replace("_", " ") in senses:
                raise ValueError
        except (ValueError, IndexError):
            raise _bad(path.name, number, "not a noun's entry in WordNet's index format, or a second one") from None
        unknown = next((offset for offset in offsets if offset not in synsets.code), None)
        if unknown is not None:
            raise _bad(path.name, number, f"the synset {unknown} is not in data.noun; the files do not fit together")
        senses[lemma.replace("_", " ")] = list(dict.fromkeys(synsets.code[offset] for offset in offsets))
    return senses


def _read_exceptions(path: Path) -> tuple[list[str], list[str]]:
    """Irregular forms and their bases, one pair an entry."""
    forms: list[str] = []
    bases: list[str] = []
    for number, line in _lines(path):
        form, *found = line.split()
        if not found:
            raise _bad(path.name, number, "an irregular form without its base form")
        for base in found:
            forms.append(form.replace("_", " "))
            bases.append(base.replace("_", " "))
    return forms, bases


def read_counts(path: Path) -> dict[str, int]:
    """How often each noun sense was tagged, by sense key; empty where the folder has no counts.

    >>> read_counts(Path("/nowhere/cntlist.rev"))
    {}
    """
    counts: dict[str, int] = {}
    if not path.exists():
        return counts
    for number, line in _lines(path):
        key, *rest = line.split()
        if len(rest) != 2 or not rest[1].isdigit():
            raise _bad(path.name, number, "not a sense key, sense number and count")
        if "%1:" in key:
            counts[key] = int(rest[1])
    return counts


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not empty."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadTaxonomy(
            f"{path.name}: the file cannot be read from the folder {path.parent.name!r} ({error.strerror});"
            " a WordNet database folder holds data.noun and index.noun"
        ) from None
    for number, line in enumerate(raw.split(b"\n"), start=1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            raise _bad(path.name, number, "the line is not UTF-8 text; convert the file to UTF-8") from None
        if text.strip():
            yield number, text


def _bad(file: str, line: int, what: str) -> BadTaxonomy:
    return BadTaxonomy(f"{file}, line {line}: {what}")


LOADERS.add(
    "wordnet",
    Loader(
        "wordnet",
        "WordNet database folder (WNDB)",
        load_wndb,
        page="wordnet",
        folder=lambda glance: (glance.path / "data.noun").is_file(),
    ),
)
