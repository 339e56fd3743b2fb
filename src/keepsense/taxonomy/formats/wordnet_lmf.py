"""Wordnets in LMF, and those installed for the `wn` package, such as Open English WordNet and OMW.

Many of these wordnets hold words only and lean on another one for their is-a links, through the interlingual index
(ILI). Such links are followed; a concept that the language has no word for is kept between those that have one, named
by the other wordnet's words, so that nothing above it is lost.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from keepsense.arrays import Rows, Strings
from keepsense.errors import BadInput, BadTaxonomy, MissingExtra
from keepsense.progress import Listener, emit
from keepsense.taxonomy.formats.source_files import PathLike, check_xml, file_path
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.glosses import GLOSSES, pack_glosses
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import VIRTUAL_ROOT, from_arrays
from keepsense.taxonomy.word_forms import EXCEPTION_BASES, EXCEPTION_FORMS

ILI = "ili"
_IS_A = ("hypernym", "instance_hypernym")
_RELATIONS = {
    "instance_hypernym": "instance",
    "mero_part": "part",
    "mero_member": "member",
    "mero_substance": "substance",
}


def load_wn(
    lexicon: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    join_roots: bool = False,
    root_label: str = VIRTUAL_ROOT,
    listener: Listener | None = None,
) -> Taxonomy:
    """Load the nouns of an installed wordnet, such as `oewn:2024` or `omw-es:1.4`, with their glosses.

    `folder` is wn's data folder where it is not the usual one. Several roots are refused unless `join_roots` puts one
    virtual root above them. The wordnet is read word by word, which takes some 20 seconds for 80,000 concepts: save the
    taxonomy (`Taxonomy.save`) to load it in a fraction of a second afterwards.

    >>> load_wn("oewn:2024", folder="/nowhere/wn")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: wn: no wordnet is installed; run `python -m wn --dir /nowhere/wn download oewn:2024`
    """
    wn = _package()
    with _data_folder(wn, folder):
        where = "" if folder is None else f" --dir {os.fspath(folder)}"
        download = f"`python -m wn{where} download {lexicon}`"
        if not wn.config.database_path.is_file():
            raise BadTaxonomy(f"wn: no wordnet is installed; run {download}")
        try:
            wordnet = _open(wn, lexicon, where, download)
            found = _Nouns(wordnet, [wn.Wordnet(x.specifier(), expand="") for x in wordnet.expanded_lexicons()])
            found.read(listener)
        except (wn.Error, sqlite3.Error) as error:
            raise BadTaxonomy(f"wn: the wordnet {lexicon!r} cannot be read ({error})") from None
        source = wordnet.lexicons()[0]
    name = f"{source.label} {source.version}"
    if not found.ids:
        raise BadTaxonomy(f"wn: the wordnet {lexicon!r} has no nouns")
    info = {"source": f"{name} ({source.id}:{source.version})", "licence": str(source.license)}
    info["language"] = str(source.language)
    return found.taxonomy(name, info, join_roots=join_roots, root_label=root_label)


def read_lmf(path: PathLike, *, lexicon: str | None = None, join_roots: bool = False) -> Taxonomy:
    """Read the nouns of a wordnet from its file in LMF form (WN-LMF), in which wordnets of all languages are shared.

    `lexicon` says which, where the file holds several. A wordnet that leans on another for its is-a links needs that
    one in the same file, or both installed for the package wn (see `load_wn`). Nothing stays behind.

    >>> read_lmf("/nowhere/odenet.xml")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: odenet.xml: the file cannot be read (No such file or directory)
    """
    place = file_path(path)
    check_xml(place, external_type=True)
    wn = _package()
    with TemporaryDirectory(prefix="keepsense-wn-") as folder:
        with _data_folder(wn, folder):
            try:
                wn.add(place, progress_handler=None)
                specifiers = sorted(found.specifier() for found in wn.lexicons())
            except MemoryError:
                raise
            except Exception as error:
                # wn raises errors of every kind for documents that are not what they seem
                reason = (str(error).splitlines() or [""])[0][:120] or type(error).__name__
                raise BadTaxonomy(f"{place.name}: not a wordnet in LMF form ({reason})") from None
        if lexicon is None and len(specifiers) != 1:
            raise BadInput(
                f"lexicon: {place.name} holds {len(specifiers)} wordnets ({', '.join(specifiers[:20])}); say which with"
                " lexicon="
            )
        return load_wn(lexicon or specifiers[0], folder=folder, join_roots=join_roots)


def _package() -> Any:
    try:
        return import_module("wn")
    except ImportError:
        raise MissingExtra(
            "wordnets of the `wn` package need that package; install it with `pip install keepsense[wn]`"
        ) from None


@contextmanager
def _data_folder(wn: Any, folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Let wn look into another data folder for a while."""
    before = wn.config.database_path.parent
    try:
        if folder is not None:
            wn.config.data_directory = Path(folder)
        yield
    except wn.ConfigurationError as error:
        raise BadTaxonomy(f"wn: {Path(folder or before).name}: not a data folder of wn ({error})") from None
    finally:
        wn.config.data_directory = before


def _open(wn: Any, lexicon: str, where: str, download: str) -> Any:
    """The one wordnet that is meant, with what it leans on."""
    matching = _installed(wn, lexicon)
    if not matching:
        there = ", ".join(sorted(x.specifier() for x in _installed(wn, "*"))) or "none"
        raise BadTaxonomy(f"wn: no installed wordnet is {lexicon!r} (installed: {there}); run {download}")
    if len(matching) > 1:
        which = ", ".join(sorted(x.specifier() for x in matching))
        raise BadTaxonomy(f"wn: several installed wordnets are {lexicon!r}: {which}; name one of them")
    try:
        absent = sorted(name for name, found in matching[0].requires().items() if found is None)
    except LookupError as error:  # wn 1.1 raises where it documents None
        absent = [str(error.args[0])]
    if absent:
        raise BadTaxonomy(
            f"wn: the wordnet {lexicon!r} takes its is-a links from {' and '.join(absent)}, which is not installed;"
            f" run `python -m wn{where} download {' '.join(absent)}`"
        )
    return wn.Wordnet(matching[0].specifier())


def _installed(wn: Any, lexicon: str) -> list[Any]:
    """Installed wordnets of this name; wn raises an error where there is none."""
    try:
        return list(wn.Wordnet(lexicon, expand="").lexicons())
    except wn.DatabaseError:
        raise
    except wn.Error:
        return []


@dataclass
class _Nouns:
    """What is read of a wordnet, concept by concept: its own synsets first, then those it borrows through the ILI."""

    wordnet: Any
    lenders: list[Any]
    ids: list[str] = field(default_factory=list)
    ili: list[str] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    glosses: list[str] = field(default_factory=list)
    senses: dict[str, list[int]] = field(default_factory=dict)
    counts: dict[tuple[str, int], int] = field(default_factory=dict)
    exceptions: list[tuple[str, str]] = field(default_factory=list)
    links: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def read(self, listener: Listener | None) -> None:
        words = self.wordnet.words(pos="n")
        lemma_of: dict[str, str] = {}
        in_order: list[tuple[str, list[Any]]] = []
        for done, word in enumerate(words):
            lemma, *others = (form.replace("\0", " ") for form in word.forms())
            self.exceptions += [(form, lemma) for form in others]
            in_order.append((lemma, word.senses()))
            lemma_of.update((sense.id, lemma) for sense in in_order[-1][1])
            if done % 1000 == 0:
                emit(listener, "words", done, len(words))
        concept_of = self._read_synsets(lemma_of, listener)
        for lemma, senses in in_order:
            row = self.senses.setdefault(lemma, [])
            for sense in senses:
                code = concept_of.get(sense.id)
                if code is not None and code not in row:
                    row.append(code)
                    self.counts[lemma, code] = sum(sense.counts())

    def _read_synsets(self, lemma_of: dict[str, str], listener: Listener | None) -> dict[str, int]:
        """Read synsets and follow their links upward, taking in borrowed ones as they turn up."""
        concept_of: dict[str, int] = {}
        waiting = self.wordnet.synsets(pos="n")
        code = {_key(synset): i for i, synset in enumerate(waiting)}
        meronyms: list[tuple[str, int, str]] = []
        done = 0
        while done < len(waiting):
            synset, key = waiting[done], _key(waiting[done])
            members = synset.senses() if key == synset.id else []
            concept_of.update((sense.id, done) for sense in members)
            names = list(dict.fromkeys(lemma_of[sense.id] for sense in members if sense.id in lemma_of))
            lent = self._lent(synset) if not names or key != synset.id else None
            self.ids.append(key)
            self.ili.append(synset.ili or "")
            self.names.append(names or ([] if lent is None else lent.lemmas()) or [key])
            self.glosses.append(_gloss(synset if key == synset.id else lent))
            for relation, targets in synset.relations(*_IS_A, *_RELATIONS).items():
                for target in targets:
                    if relation not in _IS_A:
                        meronyms.append((relation, done, _key(target)))
                        continue
                    if _key(target) not in code:
                        code[_key(target)] = len(waiting)
                        waiting.append(target)
                    self.links.setdefault(relation, []).append((done, code[_key(target)]))
            if done % 1000 == 0:
                emit(listener, "concepts", done, len(waiting))
            done += 1
        for relation, source, other in meronyms:
            if other in code:
                self.links.setdefault(relation, []).append((source, code[other]))
        return concept_of

    def _lent(self, synset: Any) -> Any:
        """The synset of the same meaning in a wordnet this one leans on."""
        for lender in self.lenders if synset.ili else ():
            for found in lender.synsets(ili=synset.ili):
                return found
        return None

    def taxonomy(self, name: str, info: dict[str, str], **roots: Any) -> Taxonomy:
        def pairs(kind: str) -> tuple[Any, Any]:
            links = np.array(self.links.get(kind, []), dtype=np.int32).reshape(-1, 2)
            return links[:, 0], links[:, 1]

        is_a = [pairs(kind) for kind in _IS_A]
        taxonomy = from_arrays(
            self.ids,
            self.names,
            np.concatenate([child for child, _ in is_a]),
            np.concatenate([parent for _, parent in is_a]),
            relations={ours: pairs(theirs) for theirs, ours in _RELATIONS.items()},
            name=name,
            info=info,
            **roots,
        )
        added = [""] * (len(taxonomy) - len(self.ids))  # the virtual root, where there is one
        extra, tables = pack_glosses(self.glosses + added, english=info["language"].startswith("en"))
        tables[GLOSSES] = Strings.of(self.glosses + added)
        tables[ILI] = Strings.of(self.ili + added)
        tables[EXCEPTION_FORMS] = Strings.of(form for form, _ in self.exceptions)
        tables[EXCEPTION_BASES] = Strings.of(base for _, base in self.exceptions)
        holders = taxonomy.names.reversed(len(taxonomy.terms))
        flat: list[int] = []
        counts: list[int] = []
        starts = [0]
        for position, term in enumerate(taxonomy.terms):
            row = self.senses.get(term, [])
            row = row + sorted(set(holders[position].tolist()).difference(row))  # borrowed concepts come last
            flat += row
            counts += [self.counts.get((term, c), 0) for c in row]
            starts.append(len(flat))
        return replace(
            taxonomy,
            extra=extra,
            tables=tables,
            senses=Rows(np.array(starts, dtype=np.int32), np.array(flat, dtype=np.int32)),
            sense_counts=np.array(counts, dtype=np.int32),
        )


def _key(synset: Any) -> str:
    """Id of a synset, or its ILI where the wordnet has no synset of its own (wn marks those with an asterisk)."""
    return str(synset.ili) if synset.id.startswith("*") else str(synset.id)


def _gloss(synset: Any) -> str:
    """Definition and examples as one text."""
    if synset is None:
        return ""
    parts = [synset.definition() or "", *(f'"{text}"' for text in synset.examples())]
    return "; ".join(part for part in parts if part).replace("\0", " ")


LOADERS.add(
    "lmf",
    Loader(
        "lmf",
        "wordnet of any language in LMF form",
        read_lmf,
        page="wordnet",
        xml=lambda glance: glance.xml_root == "LexicalResource",
        extra="wn",
    ),
)
LOADERS.add(
    "wn",
    Loader("wn", "wordnet that the package wn has installed", load_wn, page="wordnet", source="wn:", extra="wn"),
)
