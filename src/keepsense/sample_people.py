"""Make a table of synthetic people.

No row describes a real person. The words are ordinary English nouns.

>>> from keepsense.sample_people import people
>>> table = people(1000, seed=1)
>>> table.num_rows, table.column_names
(1000, ['id', 'sex', 'age', 'postcode', 'place', 'occupation', 'workplace', 'hobby', 'interests', 'diagnosis'])
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from keepsense.errors import BadInput

# Words of synthetic people: English nouns, the most frequent first. Words marked with a question mark are not in
# WordNet 3.0, as some words of real columns are not.

# occupation: how many work in it, share of women in percent, where they work
OCCUPATIONS: dict[str, tuple[int, int, str]] = {
    "nurse": (44, 87, "hospital, nursing home, clinic, school"),
    "physician": (16, 52, "hospital, clinic"),
    "surgeon": (5, 34, "hospital"),
    "dentist": (6, 50, "clinic, hospital"),
    "pharmacist": (8, 65, "drugstore, hospital"),
    "midwife": (3, 99, "hospital, home"),
    "physiotherapist": (6, 71, "hospital, clinic, gymnasium"),
    "paramedic": (7, 38, "hospital, fire station"),
    "psychologist": (6, 76, "clinic, school, prison"),
    "psychiatrist": (2, 52, "hospital, clinic"),
    "cardiologist": (1, 28, "hospital, clinic"),
    "veterinarian": (4, 62, "clinic, zoo, farm"),
    "teacher": (40, 70, "school, secondary school, primary school"),
    "schoolteacher": (22, 79, "primary school, school, secondary school"),
    "professor": (9, 40, "university, college"),
    "lecturer": (6, 47, "university, college"),
    "librarian": (6, 78, "library, university, school"),
    "tutor": (3, 60, "home, school"),
    "nursemaid": (4, 97, "nursery school, home"),
    "social worker": (15, 78, "town hall, nursing home, hospital, school"),
    "accountant": (22, 58, "office, accounting firm, bank"),
    "bookkeeper": (12, 82, "office, accounting firm, factory"),
    "secretary": (32, 94, "office, law firm, hospital, town hall"),
    "receptionist": (18, 89, "hotel, clinic, office"),
    "clerk": (46, 66, "office, town hall, post office, insurance company"),
    "bank clerk": (13, 62, "bank"),
    "stockbroker": (3, 24, "office, bank"),
    "insurance broker": (6, 44, "insurance company, office"),
    "actuary": (2, 42, "insurance company"),
    "auditor": (4, 51, "accounting firm, office"),
    "economist": (4, 35, "bank, office, university"),
    "statistician": (2, 46, "office, university"),
    "manager": (40, 37, "office, factory, hotel, supermarket"),
    "computer programmer": (26, 20, "office, home, bank"),
    "software engineer": (18, 19, "office, home"),
    "civil engineer": (9, 16, "office, building site"),
    "electrical engineer": (8, 10, "factory, power plant, office"),
    "architect": (7, 40, "office, studio, building site"),
    "chemist": (5, 44, "laboratory, chemical plant, university"),
    "physicist": (2, 21, "laboratory, university, observatory"),
    "biologist": (4, 54, "laboratory, university, museum"),
    "geologist": (2, 30, "university, mine, laboratory"),
    "meteorologist": (1, 30, "observatory, airport, television station"),
    "historian": (1, 42, "university, museum"),
    "lawyer": (14, 45, "law firm, office, courthouse"),
    "judge": (2, 38, "courthouse"),
    "police officer": (15, 22, "police station, airport"),
    "detective": (2, 18, "police station"),
    "firefighter": (7, 6, "fire station, airport"),
    "soldier": (8, 10, "garrison, airport"),
    "prison guard": (3, 24, "prison"),
    "security guard": (13, 16, "department store, office, airport"),
    "carpenter": (16, 3, "workshop, building site"),
    "plumber": (11, 2, "building site, workshop"),
    "electrician": (15, 3, "building site, workshop, factory"),
    "bricklayer": (9, 1, "building site"),
    "roofer": (5, 1, "building site"),
    "plasterer": (4, 2, "building site"),
    "welder": (8, 4, "shipyard, factory, workshop"),
    "automobile mechanic": (14, 3, "garage, workshop"),
    "locksmith": (2, 4, "workshop, shop"),
    "tailor": (3, 48, "workshop, boutique"),
    "seamstress": (4, 97, "workshop, factory"),
    "shoemaker": (1, 22, "workshop, shoe store"),
    "jeweler": (2, 40, "jewelry store, workshop"),
    "machinist": (14, 9, "factory, workshop"),
    "factory worker": (34, 36, "factory, mill, sawmill"),
    "foreman": (7, 8, "factory, building site"),
    "farmer": (12, 28, "farm, dairy farm, orchard"),
    "gardener": (7, 17, "greenhouse, park, vineyard"),
    "fisherman": (3, 3, "fishing boat, harbor"),
    "forester": (2, 14, "forest"),
    "beekeeper": (1, 31, "farm"),
    "winemaker": (1, 29, "winery, vineyard"),
    "coal miner": (2, 1, "coal mine"),
    "truck driver": (24, 4, "truck, warehouse"),
    "bus driver": (9, 14, "bus terminal, garage"),
    "pilot": (2, 6, "airport, airliner"),
    "flight attendant": (3, 78, "airliner, airport"),
    "sailor": (3, 5, "ship, harbor"),
    "mailman": (9, 38, "post office"),
    "stevedore": (4, 3, "harbor, warehouse"),
    "cook": (22, 48, "restaurant, cafeteria, hotel, school, hospital"),
    "baker": (6, 34, "bakery, supermarket"),
    "butcher": (5, 11, "butcher shop, supermarket"),
    "waiter": (16, 32, "restaurant, cafe, hotel"),
    "waitress": (16, 100, "restaurant, cafe, hotel"),
    "bartender": (8, 52, "bar, hotel"),
    "brewer": (1, 10, "brewery"),
    "cashier": (22, 82, "supermarket, department store, bank"),
    "salesclerk": (44, 69, "shop, department store, supermarket"),
    "shopkeeper": (12, 44, "shop, grocery store, hardware store"),
    "florist": (2, 80, "shop, greenhouse"),
    "bookseller": (2, 56, "bookstore"),
    "real estate agent": (7, 50, "office"),
    "travel agent": (3, 79, "travel agency"),
    "journalist": (5, 47, "newspaper, television station, radio station"),
    "editor": (3, 54, "publishing house, newspaper"),
    "translator": (3, 71, "home, publishing house, office"),
    "photographer": (4, 46, "studio, newspaper"),
    "actor": (2, 44, "theater, television station"),
    "musician": (3, 33, "concert hall, opera house, studio"),
    "pianist": (1, 46, "concert hall, home"),
    "dancer": (1, 74, "theater, opera house"),
    "sculptor": (1, 36, "studio, workshop"),
    "graphic designer": (8, 56, "studio, office, home"),
    "curator": (1, 62, "museum, art gallery"),
    "coach": (4, 24, "stadium, gymnasium, swimming pool"),
    "lifeguard": (2, 33, "swimming pool"),
    "hairdresser": (14, 88, "beauty salon"),
    "barber": (3, 12, "barbershop"),
    "beautician": (5, 98, "beauty salon"),
    "cleaner": (36, 83, "office, hospital, hotel, school"),
    "janitor": (8, 22, "school, apartment building, office"),
    "clergyman": (3, 18, "church"),
    "undertaker": (1, 15, "funeral home"),
    "homemaker": (30, 93, "home"),
    # words of today and job titles of more than one word
    "barista": (3, 58, "cafe, coffee shop"),  # ?
    "influencer": (1, 70, "home"),  # ?
    "data scientist": (4, 28, "office, laboratory, bank"),
    "web designer": (4, 34, "office, home, studio"),
}
STUDENT = "student", "university, college, library"
PUPIL = "student", "secondary school, school"
PENSIONER = "pensioner", "home, nursing home"

# diagnosis: how often among the young (under 35), the middle-aged and the old (65 and more); who gets it
DIAGNOSES: dict[str, tuple[int, int, int, str]] = {
    "influenza": (60, 45, 35, "all"),
    "common cold": (70, 40, 15, "all"),
    "bronchitis": (22, 25, 34, "all"),
    "asthma": (34, 26, 16, "all"),
    "pneumonia": (6, 9, 26, "all"),
    "emphysema": (0, 5, 18, "all"),
    "sinusitis": (22, 22, 9, "all"),
    "tonsillitis": (28, 6, 1, "all"),
    "hay fever": (32, 20, 6, "all"),
    "tuberculosis": (1, 1, 2, "all"),
    "chickenpox": (6, 1, 0, "all"),
    "infectious mononucleosis": (10, 1, 0, "all"),
    "hepatitis": (3, 5, 4, "all"),
    "AIDS": (2, 3, 1, "all"),
    "herpes zoster": (1, 5, 14, "all"),
    "Lyme disease": (3, 4, 3, "all"),
    "gastritis": (14, 24, 22, "all"),
    "gastroenteritis": (30, 18, 12, "all"),
    "peptic ulcer": (2, 9, 11, "all"),
    "appendicitis": (12, 6, 2, "all"),
    "irritable bowel syndrome": (9, 11, 5, "all"),
    "ulcerative colitis": (4, 4, 2, "all"),
    "Crohn's disease": (3, 3, 1, "all"),
    "celiac disease": (4, 3, 1, "all"),
    "cirrhosis": (0, 4, 5, "all"),
    "hypertension": (4, 60, 120, "all"),
    "angina pectoris": (0, 9, 30, "all"),
    "myocardial infarction": (0, 8, 24, "all"),
    "congestive heart failure": (0, 4, 28, "all"),
    "atrial fibrillation": (0, 6, 30, "all"),
    "atherosclerosis": (0, 7, 26, "all"),
    "cerebral hemorrhage": (0, 3, 9, "all"),
    "phlebitis": (1, 6, 9, "all"),
    "anemia": (10, 12, 14, "women"),
    "leukemia": (1, 2, 4, "all"),
    "diabetes mellitus": (5, 30, 56, "all"),
    "hypothyroidism": (4, 16, 20, "women"),
    "hyperthyroidism": (2, 6, 5, "women"),
    "gout": (1, 10, 15, "men"),
    "osteoporosis": (0, 6, 40, "women"),
    "osteoarthritis": (1, 24, 70, "all"),
    "rheumatoid arthritis": (2, 10, 15, "women"),
    "sciatica": (5, 22, 18, "all"),
    "lumbago": (14, 36, 26, "all"),
    "carpal tunnel syndrome": (4, 13, 7, "all"),
    "tendinitis": (12, 16, 6, "all"),
    "migraine": (30, 28, 7, "women"),
    "epilepsy": (6, 5, 5, "all"),
    "multiple sclerosis": (3, 5, 1, "women"),
    "Parkinson's disease": (0, 2, 15, "all"),
    "Alzheimer's disease": (0, 1, 32, "all"),
    "insomnia": (12, 22, 20, "all"),
    "sleep apnea": (2, 13, 11, "men"),
    "anxiety disorder": (28, 26, 12, "all"),
    "depressive disorder": (24, 30, 18, "all"),
    "bipolar disorder": (5, 5, 2, "all"),
    "schizophrenia": (4, 4, 2, "all"),
    "anorexia nervosa": (6, 1, 0, "women"),
    "alcoholism": (6, 16, 8, "all"),
    "eczema": (20, 13, 9, "all"),
    "psoriasis": (7, 10, 8, "all"),
    "acne": (28, 4, 0, "all"),
    "melanoma": (1, 5, 8, "all"),
    "lung cancer": (0, 4, 13, "all"),
    "breast cancer": (1, 14, 18, "only women"),
    "colon cancer": (0, 5, 14, "all"),
    "prostate cancer": (0, 6, 28, "only men"),
    "endometriosis": (7, 6, 0, "only women"),
    "kidney failure": (0, 3, 11, "all"),
    "cystitis": (14, 13, 13, "women"),
    "conjunctivitis": (13, 8, 6, "all"),
    "glaucoma": (0, 5, 18, "all"),
    "cataract": (0, 3, 42, "all"),
    "otitis media": (11, 4, 2, "all"),
    "tinnitus": (4, 10, 15, "all"),
    "gingivitis": (14, 18, 9, "all"),
    "COVID-19": (14, 14, 16, "all"),  # ?
    "fibromyalgia": (1, 5, 3, "women"),  # ?
}

# theme: how many of the young, the middle-aged and the old have a hobby of this theme; its hobbies; its interests
THEMES: dict[str, tuple[int, int, int, str, str]] = {
    "water": (
        12, 10, 8,
        "swimming, fishing, sailing, scuba diving, surfing, rowing, kayaking",
        "beach, swimming pool, sailboat, coral reef, ocean, surfboard, lighthouse, yacht, canoe, regatta",
    ),
    "sport": (
        30, 16, 5,
        "soccer, jogging, tennis, cycling, basketball, volleyball, golf, badminton, judo, boxing, skiing, parkour",
        "stadium, bicycle, marathon, gymnasium, athletics, football, sports car, league, motorcycle, Olympic Games",
    ),
    "outdoors": (
        10, 13, 10,
        "hiking, camping, hunting, rock climbing, mountaineering, horseback riding, geocaching",
        "mountain, trail, national park, forest, tent, wildlife, map, horse, castle, island",
    ),
    "garden": (
        2, 13, 24,
        "gardening, beekeeping, horticulture",
        "rose, vegetable garden, greenhouse, herb, bird, orchid, butterfly, wildflower, mushroom, bonsai",
    ),
    "craft": (
        5, 10, 18,
        "knitting, sewing, carpentry, pottery, embroidery, quilting, crocheting",
        "wool, furniture, quilt, ceramics, lace, mosaic, antique",
    ),
    "kitchen": (
        8, 13, 13,
        "cooking, baking",
        "wine, cheese, bread, cookbook, chocolate, pasta, seafood, coffee, beer, tea, sushi, curry",
    ),
    "art": (
        9, 8, 9,
        "photography, painting, drawing, sculpture, calligraphy",
        "museum, camera, art gallery, portrait, watercolor, landscape, oil painting",
    ),
    "music": (
        14, 9, 9,
        "singing, dancing, guitar, piano, violin, jazz, opera, ballet",
        "concert, jazz, orchestra, guitar, symphony, folk music, opera, piano, choir, blues, saxophone, tango",
    ),
    "page": (
        11, 14, 22,
        "reading, writing, poetry, genealogy, stamp collecting",
        "novel, newspaper, biography, detective story, science fiction, poem, ancient history, short story, magazine",
    ),
    "games": (
        14, 6, 12,
        "video game, chess, crossword puzzle, bridge, poker, billiards, backgammon, jigsaw puzzle",
        "computer game, chess, board game, crossword puzzle, bridge, poker, jigsaw puzzle, sudoku",
    ),
    "science": (
        8, 5, 3,
        "computer programming, astronomy, podcasting",
        "computer, software, robot, telescope, planet, physics, mathematics, spacecraft, electronics, smartphone",
    ),
}  # fmt: skip

PLACES = (
    "London, Paris, Madrid, Berlin, Rome, Barcelona, Vienna, Hamburg, Dublin, Milan, Munich, Lisbon, Amsterdam, "
    "Brussels, Prague, Budapest, Warsaw, Copenhagen, Stockholm, Athens, Lyon, Cologne, Turin, Seville, Zurich, Oslo, "
    "Helsinki, Rotterdam, Porto, Antwerp, Marseille, Naples, Glasgow, Edinburgh, Liverpool, Leeds, Geneva, Krakow, "
    "Granada, Zaragoza, Bordeaux, Dresden, Florence, Salzburg, Ghent, Bergen, Tampere, Galway, Cardiff, Malaga, "
    "Bilbao, Brno, Graz, Utrecht, Uppsala, Limerick"
)

# how some cells of a column are written otherwise: sloppily, with a typing error, or more closely than WordNet knows
VARIANTS: dict[str, dict[str, tuple[str, ...]]] = {
    "occupation": {
        "nurse": ("Nurse", "head nurse", "night nurse", "nurze"),
        "teacher": ("TEACHER", "maths teacher", "teachers"),
        "secretary": ("medical secretary", "secretery"),
        "plumber": ("plummer",),
        "electrician": ("electritian", "Electrician"),
        "police officer": ("police-officer", "Police Officer"),
        "firefighter": ("volunteer firefighter", "fire_fighter"),
        "physiotherapist": ("physioterapist",),
        "computer programmer": ("senior computer programmer", "programer"),
        "pensioner": ("state pensioner", "pensioners"),
    },
    "workplace": {
        "hospital": ("Hospital", "university hospital", "hosptial"),
        "supermarket": ("super-market", "supermarkt"),
        "restaurant": ("pizza restaurant", "restaurent"),
        "school": ("schools",),
    },
    "hobby": {
        "swimming": ("Swimming", "swiming"),
        "gardening": ("vegetable gardening", "gardning"),
        "soccer": ("indoor soccer",),
        "chess": ("blitz chess",),
    },
    "place": {
        "London": ("london", "Londn", "Greater London"),
        "Barcelona": ("Barcelonna",),
        "Vienna": ("VIENNA",),
    },
    "diagnosis": {
        "influenza": ("Influenza", "seasonal influenza", "infuenza"),
        "diabetes mellitus": ("Diabetes mellitus", "diabetis"),
        "asthma": ("exercise-induced asthma", "astma"),
        "hypertension": ("arterial hypertension", "hypertention"),
        "pneumonia": ("pnemonia",),
    },
}


# A seeded generator. Columns depend on each other as in real tables (employer on occupation, illness on age and sex),
# frequencies are skewed, and a few cells are misspelled.

COLUMNS = ("id", "sex", "age", "postcode", "place", "occupation", "workplace", "hobby", "interests", "diagnosis")
"""Columns of the sample, in order."""

WORD_COLUMNS = ("occupation", "workplace", "hobby", "place", "diagnosis")
"""Columns that hold one word or phrase; `interests` holds several."""

SEPARATOR = ";"
"""What separates the words of the set-valued column `interests`."""

_BATCH = 100_000
_VARIANT_SHARE = 0.04
_MOST_INTERESTS = 6
_YOUNGEST, _OLDEST = 16, 95
_AGES = np.arange(_YOUNGEST, _OLDEST + 1)

Codes = NDArray[np.int64]
Chances = NDArray[np.float64]


def people(n: int = 10_000, seed: np.random.Generator | int | None = None) -> pa.Table:
    """Make a table of `n` synthetic people.

    The same seed gives the same people; without one they are new each time. `interests` is a set of words separated by
    `SEPARATOR`. A million people take a few seconds.

    >>> people(3, seed=7).column("sex").to_pylist() == people(3, seed=7).column("sex").to_pylist()
    True
    >>> people(-1)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: sample: the number of people must be 0 or more, not -1
    """
    return pa.Table.from_batches(_batches(n, seed), _schema())


def write_people(path: str | os.PathLike[str], n: int = 10_000, seed: np.random.Generator | int | None = None) -> Path:
    """Write synthetic people to a `.csv` or `.parquet` file, in batches; the file appears only when it is whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_people(Path(folder) / "people.csv", 100, seed=1)
    ...     len(path.read_text(encoding="utf-8").splitlines())
    101
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise BadInput(
            f"{target.name}: sample people are written as .csv or .parquet; end the file name in one of these"
        )
    batches = _batches(n, seed)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise BadInput(f"{target.name}: cannot be written there ({error.strerror}); choose another folder") from None
    try:
        with os.fdopen(handle, "wb") as out, _writer(out, kind) as writer:
            for batch in batches:
                writer.write_batch(batch)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise BadInput(f"{target.name}: cannot be written ({error.strerror})") from None
        raise
    return target


def _writer(out: Any, kind: str) -> Any:
    if kind == ".csv":
        from pyarrow import csv

        # no word of the sample holds a comma or a quote, so the file needs no quotes: pleasant to look at
        out.write((",".join(COLUMNS) + "\n").encode())
        return csv.CSVWriter(out, _schema(), write_options=csv.WriteOptions(include_header=False, quoting_style="none"))
    from pyarrow import parquet

    return parquet.ParquetWriter(out, _schema())


def _schema() -> pa.Schema:
    kinds = {"id": pa.int64(), "age": pa.int64()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])


def _batches(n: int, seed: np.random.Generator | int | None) -> Iterator[pa.RecordBatch]:
    if n < 0:
        raise BadInput(f"sample: the number of people must be 0 or more, not {n}")
    rng = np.random.default_rng(seed)
    return (_batch(start, min(_BATCH, n - start), rng) for start in range(0, n, _BATCH))


def _batch(start: int, n: int, rng: np.random.Generator) -> pa.RecordBatch:
    woman = (rng.random(n) < 0.51).astype(np.int64)
    age = _AGES[_draw(rng, _age_chances(), np.zeros(n, np.int64))]
    group = np.digitize(age, (35, 65))
    place = _draw(rng, _by_rank(len(_places()))[None, :], np.zeros(n, np.int64))
    occupation, workplace = _work(rng, woman, age)
    theme, hobby = _hobbies(rng, group)
    diagnosis = _draw(rng, _diagnosis_chances(), group * 2 + woman)
    # three digits after the place's two; low ones are city centres, where more people live
    postcode = (10 + place) * 1000 + (rng.random(n) ** 3 * 60).astype(np.int64)
    columns = {
        "id": pa.array(np.arange(start + 1, start + n + 1)),
        "sex": pa.array(["male", "female"]).take(pa.array(woman)),
        "age": pa.array(age),
        "postcode": pa.array(postcode).cast(pa.string()),
        "place": _written(rng, "place", _places(), place),
        "occupation": _written(rng, "occupation", _occupations(), occupation),
        "workplace": _written(rng, "workplace", _workplaces(), workplace),
        "hobby": _written(rng, "hobby", _theme_words(3), hobby),
        "interests": _interests(rng, theme),
        "diagnosis": _written(rng, "diagnosis", tuple(DIAGNOSES), diagnosis),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in COLUMNS], schema=_schema())


# ---- what depends on what --------------------------------------------------------------------------------------------


def _work(rng: np.random.Generator, woman: Codes, age: Codes) -> tuple[Codes, Codes]:
    """Occupation by sex, unless one still studies or has retired; workplace by occupation."""
    occupation = _draw(rng, _occupation_chances(), woman)
    stage = rng.random(len(age))
    studies = np.interp(age, (16, 18, 22, 26, 34), (0.97, 0.85, 0.5, 0.12, 0.0))
    retired = np.interp(age, (55, 60, 65, 70, 80), (0.0, 0.08, 0.6, 0.94, 1.0))
    student, pensioner, pupil = range(len(OCCUPATIONS), len(OCCUPATIONS) + 3)
    occupation[stage < studies] = student
    occupation[stage < retired] = pensioner
    row = np.where((occupation == student) & (age < 19), pupil, occupation)
    return occupation, _draw(rng, _workplace_chances(), row)


def _hobbies(rng: np.random.Generator, group: Codes) -> tuple[Codes, Codes]:
    """Theme by age group, hobby within the theme."""
    weights = np.array([theme[:3] for theme in THEMES.values()], dtype=np.float64).T
    theme = _draw(rng, weights / weights.sum(axis=1, keepdims=True), group)
    return theme, _draw(rng, _theme_chances(3), theme)


def _interests(rng: np.random.Generator, theme: Codes) -> pa.Array:
    """One to six different words, most of them of the hobby's theme, the others of any."""
    n = len(theme)
    size = 1 + (rng.random(n) ** 1.2 * _MOST_INTERESTS).astype(np.int64)
    person = np.repeat(np.arange(n), size)
    other = rng.integers(0, len(THEMES), len(person))
    themes = np.where(rng.random(len(person)) < 0.7, theme[person], other)
    words = _theme_words(4)
    word = _draw(rng, _theme_chances(4), themes)
    once = np.unique(person * len(words) + word)
    starts = np.searchsorted(once, np.arange(n + 1) * len(words))
    chosen = pa.array(words).take(pa.array(once % len(words)))
    from pyarrow import compute

    return compute.binary_join(pa.ListArray.from_arrays(pa.array(starts, pa.int32()), chosen), SEPARATOR)


def _written(rng: np.random.Generator, column: str, words: Sequence[str], codes: Codes) -> pa.Array:
    """The words of the codes; a small share of the cells is written otherwise."""
    spellings, first, count = list(words), np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
    for word, variants in VARIANTS[column].items():
        at = words.index(word)
        first[at], count[at] = len(spellings), len(variants)
        spellings.extend(variants)
    odd = (rng.random(len(codes)) < _VARIANT_SHARE) & (count[codes] > 0)
    chosen = codes[odd]
    codes = codes.copy()
    codes[odd] = first[chosen] + (rng.random(len(chosen)) * count[chosen]).astype(np.int64)
    return pa.array(spellings, pa.string()).take(pa.array(codes))


# ---- tables of chances -----------------------------------------------------------------------------------------------


def _draw(rng: np.random.Generator, chances: Chances, row: Codes) -> Codes:
    """For each entry of `row` one column of that row of the table of chances, by inverting all rows' sums at once."""
    height, width = chances.shape
    sums = np.cumsum(chances, axis=1)
    sums /= sums[:, -1:]
    stacked = (sums + np.arange(height)[:, None]).ravel()
    drawn = np.searchsorted(stacked, row + rng.random(len(row)), side="right")
    column: Codes = np.minimum(drawn - row * width, width - 1)
    return column


def _by_rank(n: int) -> Chances:
    """Skewed chances of a list that is ordered likeliest first."""
    weights = 1.0 / np.arange(1, n + 1) ** 0.8
    chances: Chances = weights / weights.sum()
    return chances


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(","))


@cache
def _places() -> tuple[str, ...]:
    return _split(PLACES)


@cache
def _occupations() -> tuple[str, ...]:
    return (*OCCUPATIONS, STUDENT[0], PENSIONER[0])


@cache
def _workplaces() -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in _workplace_lists() for word in _split(words)))


def _workplace_lists() -> list[str]:
    return [places for _, _, places in OCCUPATIONS.values()] + [STUDENT[1], PENSIONER[1], PUPIL[1]]


@cache
def _age_chances() -> Chances:
    chances: Chances = np.interp(_AGES, (16, 30, 50, 65, 80, 96), (0.8, 1.1, 1.3, 1.0, 0.5, 0.0))[None, :]
    return chances


@cache
def _occupation_chances() -> Chances:
    size = np.array([weight for weight, _, _ in OCCUPATIONS.values()], dtype=np.float64)
    women = np.array([share for _, share, _ in OCCUPATIONS.values()], dtype=np.float64) / 100
    return np.stack([size * (1 - women), size * women])


@cache
def _workplace_chances() -> Chances:
    return _ranked(_workplace_lists(), _workplaces())


@cache
def _diagnosis_chances() -> Chances:
    """Rows: age group times two, plus one for women."""
    factors: Mapping[str, tuple[float, float]] = {
        "all": (1, 1),
        "women": (0.4, 1),
        "men": (1, 0.4),
        "only women": (0, 1),
        "only men": (1, 0),
    }
    table = [
        [often[group] * factors[who][woman] for *often, who in DIAGNOSES.values()]
        for group in range(3)
        for woman in range(2)
    ]
    return np.array(table, dtype=np.float64)


@cache
def _theme_words(field: int) -> tuple[str, ...]:
    """All hobbies (field 3) or all interests (field 4)."""
    return tuple(dict.fromkeys(word for theme in THEMES.values() for word in _split(str(theme[field]))))


@cache
def _theme_chances(field: int) -> Chances:
    return _ranked([str(theme[field]) for theme in THEMES.values()], _theme_words(field))


def _ranked(lists: Sequence[str], words: Sequence[str]) -> Chances:
    """One row a list: the chances of its words, likeliest first, over all words."""
    column = {word: j for j, word in enumerate(words)}
    table = np.zeros((len(lists), len(words)))
    for i, text in enumerate(lists):
        chosen = _split(text)
        table[i, [column[word] for word in chosen]] = _by_rank(len(chosen))
    return table
