"""The English WordNet 3.0 noun taxonomy that ships inside the package.

`scripts/compile_wordnet.py` writes the file from WordNet's database; WordNet's licence lies beside it. It holds
synsets, names, sense order and counts, is-a, instance and meronym links, irregular plurals, and the stemmed content
words of each gloss, but no gloss text: load a full database with `load_wndb` or `load_wn` to show glosses to people.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

from keepsense.taxonomy.core import Taxonomy
from keepsense.taxonomy.loaders.wndb import EXCEPTION_BASES, EXCEPTION_FORMS


@cache
def wordnet() -> Taxonomy:
    """The embedded WordNet 3.0 nouns: 82,115 concepts under `entity`. Loaded once, in a fraction of a second.

    >>> nouns = wordnet()
    >>> len(nouns), nouns.label(nouns.root)
    (82115, 'entity')
    >>> nouns.label(nouns.lcs("coach#1", "math teacher"))
    'person'
    """
    with as_file(files("keepsense.taxonomy") / "data" / "wordnet.taxonomy") as path:
        return Taxonomy.load(path)


def exceptions(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    """Irregular plurals and their base forms, as the source lists them; empty where it has none.

    >>> exceptions(wordnet())["mice"], exceptions(wordnet())["axes"]
    (('mouse',), ('ax', 'axis'))
    """
    found: dict[str, tuple[str, ...]] = {}
    forms, bases = taxonomy.tables.get(EXCEPTION_FORMS, ()), taxonomy.tables.get(EXCEPTION_BASES, ())
    for form, base in zip(forms, bases, strict=True):
        found[form] = (*found.get(form, ()), base)
    return found
