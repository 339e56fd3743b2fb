"""Official code systems (ISCO-08, ESCO, NAICS, NACE, ATC), and the spellings of their codes and of those of ICD.

Their upper levels have titles here, which are public facts. What lies below is read from the codes themselves: a column
of codes gives a taxonomy of its own (`code_taxonomy`), in which a code without a title goes by that of its group.
Titles of all levels come with the official files: `keepsense taxonomy import` reads them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from keepsense.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from keepsense.taxonomy.taxonomy import Taxonomy


# Codes in every spelling: dots, leading zeros, capitals, placeholders
#
# A taxonomy whose ids are codes names its system in `info["codes"]`. A code that it does not list, though it lists a
# shorter one or a range around it, is matched there as a suggestion: true, but less exact.

SYSTEM = "codes"
"""The entry of a taxonomy's `info` that names the system of its ids."""

_ICD9 = re.compile(r"([VE]?)(\d+)(?:\.(\d*))?")
_ICD10 = re.compile(r"((?:[A-Z]\d|QA)[0-9A-Z])\.?([0-9A-Z]{0,4})")


def icd9(text: str) -> str | None:
    """A diagnosis of ICD-9-CM as its id, or None: three digits (V and two, E and three), a dot, up to two digits.

    >>> [icd9(text) for text in ("250.8", "2508", "38", "038", "V45", "v4581", "E812.1", "250.xx", "12 mg")]
    ['250.8', '250.8', '038', '038', 'V45', 'V45.81', 'E812.1', '250', None]
    """
    match = _ICD9.fullmatch(text.strip().upper().rstrip("X-"))
    if match is None:
        return None
    letter, whole, part = match.groups()
    size = 2 if letter == "V" else 3
    if part is None:
        whole, part = whole[:size], whole[size:]
    if len(whole) > size or len(part) > 2:
        return None
    return letter + whole.zfill(size) + (f".{part}" if part else "")


def icd10(text: str) -> str | None:
    """A diagnosis of ICD-10 or ICD-10-CM as its id, or None; without the seventh character.

    >>> [icd10(text) for text in ("E11.9", "e119", "I10", "S02.0XXA", "T360X1A", "G01*", "E11.-", "42")]
    ['E11.9', 'E11.9', 'I10', 'S02.0XX', 'T36.0X1', 'G01', 'E11', None]
    """
    match = _ICD10.fullmatch(text.strip().upper().rstrip("†*+!-. "))
    if match is None:
        return None
    return match[1] + (f".{match[2][:3]}" if match[2] else "")


class Spelled(NamedTuple):
    """The id that a text spells, and whether it is the very code or only what lies above it.

    >>> Spelled("250.8", True).id
    '250.8'
    """

    id: str
    exact: bool


class Codes:
    """The ids of one taxonomy of codes, ready to be found in any spelling.

    >>> codes = Codes(icd9, {"001-009": 0, "001": 1, "001.0": 2})
    >>> codes.find("1.0"), codes.find("001.7"), codes.find("005"), codes.find("250")
    (Spelled(id='001.0', exact=True), Spelled(id='001', exact=False), Spelled(id='001-009', exact=False), None)
    """

    def __init__(self, spell: Callable[[str], str | None], ids: Mapping[str, int]) -> None:
        self._spell = spell
        self._ids = ids
        self._plain = {key.replace(".", ""): key for key in ids}
        spans = (key.partition("-") for key in ids if key.count("-") == 1)
        self._ranges = sorted((first, last) for first, _, last in spans if len(first) == len(last) <= 4)

    def find(self, text: str) -> Spelled | None:
        """The code that a text spells, or what lies above it, or None."""
        key = self._spell(text)
        if key is None:
            return None
        for form in (key, key.rstrip("X").rstrip(".")):  # X holds a place and is the end of some codes
            if form in self._ids:
                return Spelled(form, True)
        if key in self._plain:  # files write some codes with dots that the system does without
            return Spelled(self._plain[key], True)
        above = next((part for part in _shorter(key) if part in self._ids), None) or self._around(key.partition(".")[0])
        return Spelled(above, False) if above else None

    def _around(self, category: str) -> str | None:
        """The narrowest range that holds a category: of those that begin before it, the one that begins last."""
        until = bisect_right(self._ranges, (category, "~"))
        holding = [
            (first, last)
            for first, last in self._ranges[:until]
            if len(first) == len(category) and first <= category <= last
        ]
        best = max(holding, key=lambda span: (span[0], [-ord(c) for c in span[1]]), default=None)
        return f"{best[0]}-{best[1]}" if best else None


def _shorter(key: str) -> Iterator[str]:
    """A code without its last character, and so on."""
    return (key[:size].rstrip(".") for size in range(len(key) - 1, 0, -1))


def written(value: object) -> str:
    """A cell as the code it shows: a whole number that a spreadsheet made a fraction is whole again.

    >>> written(250.0), written(250.8), written("250.0")
    ('250', '250.8', '250.0')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# Code systems


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
"""The classifications that are known by their codes. ICD is inside as a whole: see
`keepsense.taxonomy.code_systems`."""

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
    from keepsense.taxonomy.taxonomy_builder import from_edges

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
