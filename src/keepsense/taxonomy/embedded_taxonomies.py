"""The taxonomies in the package: two wordnets, the gazetteer of places (GeoNames), and ICD; with their licences.

Scripts in `scripts/` compile the files from their sources; notices of their licences are in the same folder. The two
wordnets hold synsets, names, sense order and counts, is-a, instance and meronym links, irregular plurals, and the
stemmed content words of each gloss, but no gloss text: load a full database with `load_wndb` or `load_wn` to show
glosses to people.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from keepsense.taxonomy.taxonomy import Taxonomy

WORDNET = "wordnet"


@dataclass(frozen=True, slots=True)
class Embedded:
    """One embedded taxonomy: its name, what it knows, its licence in a few words, and the file of its licence.

    >>> EMBEDDED["oewn"].notice
    'OEWN-NOTICE.txt'
    """

    name: str
    knows: str
    licence: str
    notice: str

    @property
    def file(self) -> Traversable:
        """The compiled file inside the package."""
        return files("keepsense.taxonomy") / "data" / f"{self.name}.taxonomy"


EMBEDDED = {
    entry.name: entry
    for entry in (
        Embedded(WORDNET, "English nouns, with persons and places", "WordNet License", "WORDNET-LICENSE.txt"),
        Embedded("oewn", "English nouns of today, without proper names", "CC BY 4.0", "OEWN-NOTICE.txt"),
        Embedded("places", "cities, regions and countries of the world", "CC BY 4.0", "PLACES-NOTICE.txt"),
        Embedded("icd9cm", "diagnoses as codes of ICD-9-CM", "public domain", "ICD-NOTICE.txt"),
        Embedded("icd10cm", "diagnoses as codes of ICD-10-CM or ICD-10", "public domain", "ICD-NOTICE.txt"),
    )
}
"""Every embedded taxonomy by its name; the first is the reference of the papers and the default."""


@cache
def embedded(name: str) -> Taxonomy:
    """An embedded taxonomy by its name. Loaded once, in a fraction of a second, when it is first asked for.

    >>> words = embedded("oewn")
    >>> words.name, [words.label(words.parents[words.code(w)][0]) for w in ("smartphone", "COVID-19")]
    ('Open English WordNet 2026', ['cellular telephone', 'coronavirus disease'])
    """
    from keepsense.taxonomy.taxonomy import Taxonomy

    with as_file(EMBEDDED[name].file) as path:
        return Taxonomy.load(path)


def wordnet() -> Taxonomy:
    """The embedded WordNet 3.0 nouns: 82,115 concepts under `entity`. Loaded once, in a fraction of a second.

    >>> nouns = wordnet()
    >>> len(nouns), nouns.label(nouns.root)
    (82115, 'entity')
    >>> nouns.label(nouns.lcs("coach#1", "math teacher"))
    'person'
    """
    return embedded(WORDNET)


def exceptions(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    """Irregular plurals and their base forms, as the source lists them; empty where it has none.

    >>> exceptions(wordnet())["mice"], exceptions(wordnet())["axes"]
    (('mouse',), ('ax', 'axis'))
    """
    from keepsense.taxonomy.word_forms import EXCEPTION_BASES, EXCEPTION_FORMS

    found: dict[str, tuple[str, ...]] = {}
    forms, bases = taxonomy.tables.get(EXCEPTION_FORMS, ()), taxonomy.tables.get(EXCEPTION_BASES, ())
    for form, base in zip(forms, bases, strict=True):
        found[form] = (*found.get(form, ()), base)
    return found
