"""Classifications whose codes tell what lies above them: ISCO-08, ESCO, NAICS, NACE and ATC.

Their upper levels have titles here, which are public facts. What lies below is read from the codes themselves: a column
of codes gives a taxonomy of its own (`code_taxonomy`), in which a code without a title goes by that of its group.
Titles of all levels come with the official files: `keepsense taxonomy import` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keepsense.errors import BadInput, did_you_mean
from keepsense.taxonomy.codes import SYSTEM, icd9, icd10, written

if TYPE_CHECKING:
    from keepsense.taxonomy.core import Taxonomy


@dataclass(frozen=True)
class CodeSystem:
    """A classification: its name and title, what its codes look like, the lengths of its levels, and known titles.

    Groups that are no prefix (sector 31-33 of NAICS, section A of NACE) are given by `groups`: two digits to the group.
    Where codes are `dotted`, every dot begins a level below. A column is one of such codes if a word of its name is how
    the system is `called`; where it only says what they are `about`, or nothing, all codes have to be `telling`.

    >>> isco = SYSTEMS["isco-08"]
    >>> isco.titles["22"], list(isco.above("2221"))
    ('Health professionals', ['222', '22', '2'])
    """

    name: str
    title: str
    pattern: re.Pattern[str]
    lengths: tuple[int, ...]
    titles: Mapping[str, str]
    groups: Mapping[str, str] = field(default_factory=dict)
    called: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    telling: re.Pattern[str] | None = None
    dotted: bool = False

    def spell(self, text: str) -> str | None:
        """The id that a text spells, or None: capitals, no dots or blanks, and no code below an unknown group.

        >>> SYSTEMS["nace"].spell("01.11"), SYSTEMS["isco-08"].spell("2221.0"), SYSTEMS["atc"].spell("a10ba02")
        ('0111', None, 'A10BA02')
        """
        plain = text.strip().upper()
        if plain in self.titles:
            return plain
        if not self.pattern.fullmatch(plain):
            return None
        code = plain if self.dotted else plain.replace(".", "")
        return code if code in self.titles or any(above in self.titles for above in self.above(code)) else None

    def above(self, code: str) -> Iterator[str]:
        """What lies above a code, the nearest first."""
        if code in self.groups.values():
            return
        while "." in code:
            code = code.rpartition(".")[0]
            yield code
        yield from (
            code[:size] for size in reversed(self.lengths) if size < len(code) and code[:size] not in self.groups
        )
        if self.groups and code[:2] in self.groups:
            if len(code) > 2 and self.groups[code[:2]].isalpha():
                yield code[:2]
            yield self.groups[code[:2]]

    def label(self, code: str) -> str:
        """What a code is called: its title, or that of the nearest group that has one, with the code in brackets.

        >>> SYSTEMS["isco-08"].label("2221"), SYSTEMS["naics"].label("3254")
        ('Health professionals (2221)', 'Manufacturing (3254)')
        """
        title = next((self.titles[key] for key in (code, *self.above(code)) if key in self.titles), self.title)
        return f"{title} ({code})"


def _titles(text: str) -> dict[str, str]:
    entries = (entry.strip().partition(" ") for entry in text.replace("\n", " ").split(" / "))
    return {code: " ".join(title.split()) for code, _, title in entries}


_ISCO = _titles("""0 Armed forces occupations / 1 Managers / 2 Professionals / 3 Technicians and associate
professionals / 4 Clerical support workers / 5 Service and sales workers / 6 Skilled agricultural, forestry and
fishery workers / 7 Craft and related trades workers / 8 Plant and machine operators, and assemblers / 9 Elementary
occupations / 01 Commissioned armed forces officers / 02 Non-commissioned armed forces officers / 03 Armed forces
occupations, other ranks / 11 Chief executives, senior officials and legislators / 12 Administrative and commercial
managers / 13 Production and specialized services managers / 14 Hospitality, retail and other services managers / 21
Science and engineering professionals / 22 Health professionals / 23 Teaching professionals / 24 Business and
administration professionals / 25 Information and communications technology professionals / 26 Legal, social and
cultural professionals / 31 Science and engineering associate professionals / 32 Health associate professionals / 33
Business and administration associate professionals / 34 Legal, social, cultural and related associate professionals /
35 Information and communications technicians / 41 General and keyboard clerks / 42 Customer services clerks / 43
Numerical and material recording clerks / 44 Other clerical support workers / 51 Personal service workers / 52 Sales
workers / 53 Personal care workers / 54 Protective services workers / 61 Market-oriented skilled agricultural workers
/ 62 Market-oriented skilled forestry, fishery and hunting workers / 63 Subsistence farmers, fishers, hunters and
gatherers / 71 Building and related trades workers, excluding electricians / 72 Metal, machinery and related trades
workers / 73 Handicraft and printing workers / 74 Electrical and electronic trades workers / 75 Food processing, wood
working, garment and other craft and related trades workers / 81 Stationary plant and machine operators / 82
Assemblers / 83 Drivers and mobile plant operators / 91 Cleaners and helpers / 92 Agricultural, forestry and fishery
labourers / 93 Labourers in mining, construction, manufacturing and transport / 94 Food preparation assistants / 95
Street and related sales and service workers / 96 Refuse workers and other elementary workers""")

_NAICS = _titles("""11 Agriculture, forestry, fishing and hunting / 21 Mining, quarrying, and oil and gas extraction /
22 Utilities / 23 Construction / 31-33 Manufacturing / 42 Wholesale trade / 44-45 Retail trade / 48-49 Transportation
and warehousing / 51 Information / 52 Finance and insurance / 53 Real estate and rental and leasing / 54 Professional,
scientific, and technical services / 55 Management of companies and enterprises / 56 Administrative and support and
waste management and remediation services / 61 Educational services / 62 Health care and social assistance / 71 Arts,
entertainment, and recreation / 72 Accommodation and food services / 81 Other services (except public administration)
/ 92 Public administration""")

_NACE = _titles("""A Agriculture, forestry and fishing / B Mining and quarrying / C Manufacturing / D Electricity,
gas, steam and air conditioning supply / E Water supply; sewerage, waste management and remediation activities / F
Construction / G Wholesale and retail trade; repair of motor vehicles and motorcycles / H Transportation and storage /
I Accommodation and food service activities / J Information and communication / K Financial and insurance activities /
L Real estate activities / M Professional, scientific and technical activities / N Administrative and support service
activities / O Public administration and defence; compulsory social security / P Education / Q Human health and social
work activities / R Arts, entertainment and recreation / S Other service activities / T Activities of households as
employers / U Activities of extraterritorial organisations and bodies""")
_DIVISIONS = """A 1-3, B 5-9, C 10-33, D 35-35, E 36-39, F 41-43, G 45-47, H 49-53, I 55-56, J 58-63, K 64-66, L 68-68,
M 69-75, N 77-82, O 84-84, P 85-85, Q 86-88, R 90-93, S 94-96, T 97-98, U 99-99"""

_ATC = _titles("""A Alimentary tract and metabolism / B Blood and blood forming organs / C Cardiovascular system / D
Dermatologicals / G Genito-urinary system and sex hormones / H Systemic hormonal preparations, excluding sex hormones
and insulins / J Antiinfectives for systemic use / L Antineoplastic and immunomodulating agents / M Musculo-skeletal
system / N Nervous system / P Antiparasitic products, insecticides and repellents / R Respiratory system / S Sensory
organs / V Various""")


def _spread(spans: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Two-digit codes and the group that each range of them makes up."""
    groups: dict[str, str] = {}
    for group, span in spans:
        first, last = map(int, span.split("-"))
        groups |= {f"{number:02}": group for number in range(first, last + 1)}
    return groups


_MINOR = """011 021 031 11[12] 12[12] 13[1-4] 14[1-3] 21[1-6] 22[1-6] 23[1-5] 24[1-3] 25[12] 26[1-5] 31[1-5] 32[1-5]
33[1-5] 34[1-3] 35[12] 41[1-3] 42[12] 43[12] 441 51[1-6] 52[1-4] 53[12] 541 61[1-3] 62[12] 63[1-4] 71[1-3] 72[1-3]
73[12] 74[12] 75[1-4] 81[1-8] 821 83[1-5] 91[12] 921 93[1-3] 941 95[12] 96[12]"""
_UNIT = rf"(?:{'|'.join(_MINOR.split())})\d"
"""Codes of four digits below the 130 minor groups of ISCO-08: 13 of 100 numbers of four digits look like one."""


def _named(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JOBS = _named("occupation occupations job jobs profession work")
_INDUSTRIES = _named("industry industries sector branch economic activity business")

SYSTEMS: Mapping[str, CodeSystem] = {
    system.name: system
    for system in (
        CodeSystem(
            "isco-08",
            "ISCO-08 occupations",
            re.compile(r"\d{1,4}"),
            (1, 2, 3, 4),
            _ISCO,
            called=_named("isco"),
            about=_JOBS,
            telling=re.compile(_UNIT),
        ),
        CodeSystem(
            "esco",
            "ESCO occupations",
            re.compile(r"\d{1,4}|\d{4}(?:\.\d{1,3})+"),
            (1, 2, 3, 4),
            _ISCO,
            called=_named("esco"),
            about=_JOBS,
            telling=re.compile(rf"{_UNIT}(?:\.\d{{1,3}})+"),
            dotted=True,
        ),
        CodeSystem(
            "naics",
            "NAICS industries",
            re.compile(r"\d{2,6}"),
            (2, 3, 4, 5, 6),
            _NAICS,
            _spread((code, code) for code in _NAICS if "-" in code),
            called=_named("naics"),
            about=_INDUSTRIES,
            telling=re.compile(r"\d{6}"),
        ),
        CodeSystem(
            "nace",
            "NACE industries",
            re.compile(r"\d{2}(?:\.?\d{1,2})?"),
            (2, 3, 4),
            _NACE,
            _spread((entry.split()[0], entry.split()[1]) for entry in _DIVISIONS.split(",")),
            called=_named("nace"),
            about=_INDUSTRIES,
            telling=re.compile(r"\d{2}\.\d{2}"),
        ),
        CodeSystem(
            "atc",
            "ATC medicines",
            re.compile(r"[A-Z](?:\d{2}(?:[A-Z](?:[A-Z](?:\d{2})?)?)?)?"),
            (1, 3, 4, 5, 7),
            _ATC,
            called=_named("atc"),
            telling=re.compile(r"[A-Z]\d{2}[A-Z]{2}\d{2}"),
        ),
    )
}
"""The classifications that are known by their codes. ICD is inside as a whole: see `keepsense.taxonomy.codes`."""

SPELLINGS: Mapping[str, Callable[[str], str | None]] = {
    "icd-9-cm": icd9,
    "icd-10-cm": icd10,
    **{name: system.spell for name, system in SYSTEMS.items()},
}
"""How the codes of each system are read: the id that a text spells, or None."""


def code_taxonomy(system: str, values: Iterable[object]) -> Taxonomy:
    """The taxonomy of a column of codes: every code, and the groups above it. What is no code is left out.

    >>> jobs = code_taxonomy("isco-08", ["2221", "2211", "5120"])
    >>> jobs.labels(jobs.path("2221", jobs.root))[1:]
    ['Health professionals (222)', 'Health professionals (22)', 'Professionals (2)', 'ISCO-08 occupations']
    >>> jobs.label(jobs.lcs("2221", "2211"))
    'Health professionals (22)'
    """
    from keepsense.taxonomy.build import from_edges

    if system not in SYSTEMS:
        raise BadInput(
            f"no classification is called {system!r}; there are: {', '.join(SYSTEMS)}.{did_you_mean(system, SYSTEMS)}"
        )
    rules = SYSTEMS[system]
    codes = sorted({code for value in values if (code := rules.spell(written(value))) is not None})
    if not codes:
        raise BadInput(f"none of the values is a code of {rules.title}")
    names = {rules.title: [rules.title]}
    edges: dict[tuple[str, str], None] = {}
    for code in codes:
        chain = [code, *rules.above(code)]
        names |= {key: [rules.label(key)] for key in chain if key not in names}
        edges |= dict.fromkeys(zip(chain, [*chain[1:], rules.title], strict=True))
    return from_edges(edges, names=names, name=rules.title, info={"source": rules.title, SYSTEM: system})


LEAST_CODES = 8
"""Different codes that a column must have for its system to be told by them, where its name does not say it."""

_MOST_CODES = 0.9
"""Share of the values that must be codes of a system where the name of the column says that it holds such."""


def system_of(values: Iterable[object], words: Iterable[str] = ()) -> CodeSystem | None:
    """The classification that a column of codes is of, by its different values and the words of its name; or None.

    Numbers alone tell none: nearly any number could be a code. The name has to say which system it is, or else what the
    codes are about, and then all of them must be such as other numbers rarely are.

    >>> system_of(["2221", "5120"], ["isco", "code"]).name, system_of(["2221", "5120"], ["salary"])
    ('isco-08', None)
    >>> medicines = ["A10BA02", "N02BE01", "C09AA05", "C07AB02", "J01CA04", "R03AC02", "M01AE01", "B01AC06"]
    >>> system_of(medicines).name
    'atc'
    """
    said = frozenset(words)
    texts = [written(value).strip().upper() for value in values]
    for system in SYSTEMS.values():
        if said & system.called and sum(system.spell(t) is not None for t in texts) >= _MOST_CODES * len(texts) > 0:
            return system
    for system in SYSTEMS.values() if len(texts) >= LEAST_CODES else ():
        suits = not system.about or said & system.about
        if suits and system.telling and all(system.telling.fullmatch(t) and system.spell(t) for t in texts):
            return system
    return None
