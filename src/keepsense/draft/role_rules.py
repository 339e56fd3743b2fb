"""Rules for the role of a column, in order: the first that applies decides, with its reason and confidence.

The values of a column count before its name, and a name counts only where the values do not contradict it. A column
of which nothing is known is taken for one that could identify people: the guess errs towards privacy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from keepsense.counts import Value
from keepsense.draft import recognizers
from keepsense.draft import vocabulary as patterns
from keepsense.draft.recognizers import are_numbers, is_free_text
from keepsense.draft.vocabulary import is_question
from keepsense.engines.protocol import Profile
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.taxonomy.code_systems import icd10, system_of

Confidence = Literal["sure", "likely", "unsure"]

ONE_VALUE_EACH = 0.95
"""Distinct values over rows from which on a column has a value for each person, as an identifier has."""

FEW = 10
"""Values up to which no column can name people, whatever it is called."""

REPEATED = 1.5
"""Rows for each full name from which on they are rows of one person: few people share a name with another."""

MANY = 50
"""Different numbers from which on they no longer look like how many of something there are."""

ITEMS = 4
"""Columns with one name and a number each from which on they are items of a questionnaire or test."""

PRECISE = 4
"""Decimal places from which on a number is measured: nobody knows it so exactly of others."""

_DATES = "dates, which others may know"
_COORDINATES = "coordinates of a place, which lead to a door"

_UNNAMED = re.compile(
    r"unnamed:? ?_?\d*|v0|column0+|\.\.\.1|_?_?index(_level_0_*)?_?|level_0"
    r"|row[ _.]?(names?|numbers?|nums?|index|id|nr|no)|rn|",
    re.IGNORECASE,
)
"""What frames and readers call the numbers of rows, where nobody named them."""

_NAMED = patterns.PLACES | patterns.words("party course language drug disease brand model university college club")
"""What has a name without being a person."""

_CLINICAL = re.compile(r".*\((finding|disorder|situation|procedure|event|morphologic abnormality)\)", re.IGNORECASE)


@dataclass(frozen=True)
class Guess:
    """A role, why it was guessed, and how sure the guess is.

    >>> Guess("sensitive", "its name says income").confidence
    'likely'
    """

    role: str
    reason: str
    confidence: Confidence = "likely"


@dataclass(frozen=True, eq=False)
class Facts:
    """What the rules look at: the column's profile and kind, and the words in the names of all columns of its table.

    `items` says how many columns have its name but for a number, `label` what its file calls it beside that.

    >>> Facts(Profile("dateOfBirth", "VARCHAR", 4, 0, 4, 4), "date").words
    ('date', 'of', 'birth')
    """

    profile: Profile
    kind: str
    beside: frozenset[str] = field(default_factory=frozenset)
    items: int = 0
    label: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the column's name."""
        return tuple(patterns.words_of(self.profile.name))

    @property
    def called(self) -> str:
        """Its label without its name, with which those of questionnaires begin."""
        return re.sub(rf"^\W*{re.escape(self.profile.name)}\b\W*", "", self.label, flags=re.IGNORECASE).strip()

    @property
    def values(self) -> Sequence[Value]:
        """Its most frequent values."""
        return list(self.profile.values)

    @property
    def texts(self) -> Sequence[str]:
        """Those of its values that are texts."""
        return [v for v in self.profile.values if isinstance(v, str)]

    @property
    def times(self) -> float:
        """In how many rows a value occurs on average."""
        return self.profile.filled / max(1, self.profile.distinct)

    @property
    def few(self) -> bool:
        """Whether there are so few values that none can stand for a person."""
        return self.profile.distinct <= FEW and self.times > 5

    def named(self, vocabulary: frozenset[str]) -> str | None:
        """The word of the name that is in a vocabulary."""
        return patterns.named_like(self.profile.name, vocabulary)


def role_of(facts: Facts) -> Guess | None:
    """The role of a column by the first rule that speaks; None where neither values nor name tell anything.

    >>> jobs = Profile("job", "VARCHAR", 90, 0, 3, 0, {"nurse": 40, "clerk": 30, "cook": 20})
    >>> role_of(Facts(jobs, "nominal"))
    Guess(role='quasi-identifier', reason='its name says job, which others may know', confidence='likely')
    """
    return next((guess for rule in RULES if (guess := rule(facts)) is not None), None)


LONG = 5
"""Words of a label from which on it no longer names what a column holds, but says something about it."""


def by_label(facts: Facts) -> Guess | None:
    """The role by what a file calls the column, where its name tells nothing; of a long label only the safe guess.

    >>> marital = Profile("Q7", "VARCHAR", 90, 0, 3, 0, {"single": 40, "married": 30, "widowed": 20})
    >>> by_label(Facts(marital, "nominal", label="Q7. Are you (marital status)"))
    Guess(role='quasi-identifier', reason='its label says marital, which others may know', confidence='likely')
    """
    named = facts.called
    guess = role_of(replace(facts, profile=replace(facts.profile, name=named))) if named else None
    if guess is None or (len(patterns.words_of(named)) >= LONG and guess.role != "quasi-identifier"):
        return None
    if guess.reason == _COORDINATES and len(patterns.words_of(named)) > 1:  # a long-term plan is no longitude
        return None
    return replace(guess, reason=guess.reason.replace("its name says", "its label says"))


def _constant(facts: Facts) -> Guess | None:
    if facts.profile.filled == 0:
        return Guess("insensitive", "has no values", "sure")
    if facts.profile.distinct == 1 and facts.profile.missing == 0:
        return Guess("insensitive", "has one value only", "sure")
    return None


def _by_content(facts: Facts) -> Guess | None:
    """Mail addresses, names of people, numbers of documents: identifiers, whatever the column is called."""
    if not facts.texts or len(facts.texts) < len(facts.values) or facts.profile.distinct <= 2:
        return None
    sign = recognizers.sign_of(facts.texts)
    if sign is not None and facts.kind != "date":
        return _person_or_identifier(facts, sign) if sign.repeats else Guess("identifier", f"holds {sign.name}", "sure")
    if (
        facts.profile.distinct > FEW
        and not facts.named(patterns.PLACES)
        and recognizers.are_names_of_people(facts.texts)
    ):
        if (
            facts.times >= REPEATED
            and recognizers.are_full_names(facts.texts)
            and not facts.named(patterns.OTHER_THINGS)
        ):
            return Guess("person", f"holds names of people, each in about {facts.times:.1f} rows")
        return Guess("identifier", "holds names of people", "sure" if facts.named(patterns.IDENTIFIERS) else "likely")
    many = facts.profile.distinct > FEW and (facts.profile.uniqueness > 0.5 or facts.profile.distinct > 1000)
    if many and is_free_text(facts.texts) and not _clinical(facts):
        return Guess("identifier", "free text, in which anything may stand")
    return None


def _person_or_identifier(facts: Facts, sign: recognizers.Sign) -> Guess:
    if facts.times < 1.05:
        return Guess("identifier", f"holds {sign.name}", "sure")
    if (other := facts.named(patterns.OTHER_THINGS)) and not facts.named(patterns.PERSONS):
        return Guess("identifier", f"holds {sign.name} of each {other}", "sure")
    return Guess("person", f"holds {sign.name}, each in about {facts.times:.1f} rows", "sure")


def _weight(facts: Facts) -> Guess | None:
    words = set(facts.words)
    sampling = "weight" in words and words & {"sampling", "survey", "design", "sample", "expansion"}
    if KINDS[facts.kind].numbers and (word := facts.named(patterns.WEIGHTS) or ("weight" if sampling else None)):
        return Guess("weight", f"its name says {word}: a sampling weight")
    return None


def _identifying_name(facts: Facts) -> Guess | None:
    """What the name says is an identifier, unless a handful of values shows that it only tells whether there is one."""
    if facts.few:
        return None
    word = facts.named(patterns.IDENTIFIERS)
    parts = patterns.NAME_PARTS & facts.beside
    if word is None and len(parts) > 1 and len(facts.words) == 1 and facts.words[0] in parts:
        word = f"{facts.words[0]} name"
    measured = KINDS[facts.kind].numbers and (
        "." in str(facts.values[0]) or patterns.head_of(facts.words) in patterns.MEASURED
    )
    if word is None or measured or facts.named(patterns.OTHER_THINGS):
        return None
    if word in ("name", "names") and facts.named(_NAMED):  # the name of a country or a party is no person's
        return None
    return Guess("identifier", f"its name says {word}", "sure" if facts.profile.uniqueness > 0.5 else "likely")


def _numbering(facts: Facts) -> Guess | None:
    """Numbers that stand for something: for a record, for a person with several rows, or for one of few things."""
    profile = facts.profile
    whole = all(re.fullmatch(r"[\w/-]+(\.0+)?", str(value).strip()) for value in facts.values[:200])
    if not whole or facts.kind == "date" or (facts.few and not recognizers.are_tokens(facts.texts)):
        return None
    word, person = facts.named(patterns.IDS), facts.named(patterns.PERSONS)
    if patterns.head_of(facts.words) in patterns.SENSITIVE | patterns.MEASURED:  # the income of an applicant
        person = None
    if profile.uniqueness == 1.0 and _UNNAMED.fullmatch(profile.name.strip()):
        return Guess("identifier", "it numbers the rows: its name is what frames call such a column", "sure")
    rare = profile.uniqueness > ONE_VALUE_EACH and profile.rows > FEW
    if rare and (word or recognizers.are_row_numbers(facts.values, max(profile.rows, len(facts.values)))):
        said = f"its name says {word}" if word else "it numbers the rows"
        return Guess("identifier", f"{said}, and {_share(profile)} of the values occur once", "sure")
    paid = facts.named(patterns.SENSITIVE) or facts.named(patterns.MEASURED)
    if rare and facts.texts and recognizers.are_document_numbers(facts.texts, lettered=paid is not None):
        return Guess("identifier", f"looks like numbers of documents, and {_share(profile)} occur once", "sure")
    if (person and (word or person == "pid")) or (person and not KINDS[facts.kind].words):
        if facts.times >= 1.05 and profile.uniqueness > 0.01:
            return Guess("person", f"its name says {person}, and each occurs in about {facts.times:.1f} rows", "sure")
        if facts.times < 1.05:
            return Guess("identifier", f"its name says {person}", "sure")
    return _numbers_of_something(facts, word)


def _numbers_of_something(facts: Facts, word: str | None) -> Guess | None:
    """Numbers that repeat: of people, unless the name says of what else."""
    uniqueness, rows = facts.profile.uniqueness, f"each occurs in about {facts.times:.1f} rows"
    if word in ("id", "ids", "identifier", "uid", "guid", "uuid", "key") and uniqueness > 0.05:
        if place := facts.named(patterns.PLACES):
            return Guess("quasi-identifier", f"its name says {word} of a {place}, which others may know")
        if other := facts.named(patterns.OTHER_THINGS):
            return Guess("identifier", f"its name says {word} of each {other}") if uniqueness > 0.2 else None
        return Guess("person", f"its name says {word}, and {rows}")
    if word is not None and facts.profile.distinct > 2 and facts.texts and recognizers.are_tokens(facts.texts):
        return Guess("person", f"its name says {word}, its values look like tokens, and {rows}")
    lettered = (
        facts.texts and facts.profile.distinct > MANY and recognizers.are_document_numbers(facts.texts, lettered=True)
    )
    if lettered and uniqueness > 0.01 and facts.named(patterns.OTHER_THINGS) is None:
        return Guess("person", f"looks like numbers of documents, and {rows}")
    return None


def _coordinates(facts: Facts) -> Guess | None:
    if is_coordinate(facts):
        return Guess("quasi-identifier", _COORDINATES, "sure")
    return None


def is_coordinate(facts: Facts) -> bool:
    """Whether a column holds coordinates: by its name, and by numbers that are exact enough.

    >>> place = Profile("LAT", "VARCHAR", 2, 0, 2, 2, {"54.10419389926588": 1, "51.47844135434859": 1})
    >>> is_coordinate(Facts(place, "numeric"))
    True
    >>> is_coordinate(Facts(Profile("lat", "VARCHAR", 2, 0, 1, 0, {"1": 2}), "numeric"))
    False
    """
    if facts.few or not KINDS[facts.kind].numbers or facts.named(patterns.COORDINATES) is None:
        return False
    numbers = [abs(float(str(value))) for value in facts.values]
    if max(numbers) <= 180:
        return sum(len(str(value).partition(".")[2]) >= 2 for value in facts.values) > recognizers.MOST * len(numbers)
    return sum(number >= 1000 for number in numbers) > recognizers.MOST * len(numbers)


def _sensitive_content(facts: Facts) -> Guess | None:
    if facts.texts and _clinical(facts):
        return Guess("sensitive", "holds findings and disorders")
    if facts.texts and (system := system_of(facts.values)) is not None:
        return Guess("sensitive", f"looks like codes of {system.title}")
    icd = sum(icd10(text) is not None for text in facts.texts)
    if facts.profile.distinct > 2 * FEW and icd > 0.9 * len(facts.values):
        return Guess("sensitive", "looks like codes of diagnoses")
    return None


def _clinical(facts: Facts) -> bool:
    return sum(_CLINICAL.fullmatch(text.strip()) is not None for text in facts.texts) > recognizers.MOST * len(
        facts.texts
    )


def _by_name(facts: Facts) -> Guess | None:
    """What the name says: first the word that says what it is about, then any other."""
    if facts.kind == "date":  # also that of a diagnosis or an offence: on its day somebody was seen
        word = facts.named(patterns.KNOWN_BY_OTHERS)
        return Guess("quasi-identifier", f"its name says {word}, which others may know" if word else _DATES)
    head = patterns.head_of(facts.words)
    for words in ((head,) if head and head not in patterns.FORMS_OF_OTHERS else (), facts.words):
        guess = _by_words(facts, words)
        if guess is not None:
            return guess
    return None


def _by_words(facts: Facts, words: Sequence[str]) -> Guess | None:
    numbers = KINDS[facts.kind].numbers
    # the number of a loan stands for it; how many loans somebody has is told by few numbers
    counted = facts.named(patterns.COUNTED - {"total"})
    numbered = counted and not (numbers and facts.profile.distinct <= MANY)
    known = _first(words, patterns.KNOWN_BY_OTHERS)
    digits = numbers or are_numbers(facts.values)  # also two or three that stand for words
    if (word := _first(words, patterns.MEASURED)) and digits and known is None:
        return Guess("sensitive", f"its name says {word}: counted or measured, rarely known to others")
    if (word := _first(words, patterns.SENSITIVE)) and not numbered:
        return Guess("sensitive", f"its name says {word}")
    nominal = KINDS[facts.kind].words and not KINDS[facts.kind].sets
    if known is not None and not (nominal and facts.profile.uniqueness >= ONE_VALUE_EACH):
        return Guess("quasi-identifier", f"its name says {known}, which others may know")
    return None


def _by_part_of_a_word(facts: Facts) -> Guess | None:
    """What a shortened or prolonged word of the name says, where no whole one says anything."""
    guess = _by_words(facts, [meant for word in facts.words if (meant := patterns.meant_by(word))])
    return None if guess is None else replace(guess, confidence="unsure")


def _first(words: Sequence[str], vocabulary: frozenset[str]) -> str | None:
    return next((word for word in words if word in vocabulary), None)


def by_default(facts: Facts, *, known: bool = False) -> Guess:
    """The guess where no rule speaks; `known` says that a taxonomy knows the words of the column.

    >>> by_default(Facts(Profile("x", "VARCHAR", 90, 0, 3, 0), "nominal")).role
    'quasi-identifier'
    """
    profile = facts.profile
    if (guess := _answered(facts) or _measured(facts)) is not None:
        return guess
    if profile.uniqueness > ONE_VALUE_EACH and profile.rows >= 2 * FEW and facts.kind == "nominal" and not known:
        return Guess("identifier", f"{_share(profile)} of its values occur only once")
    return Guess("quasi-identifier", "nothing tells that others cannot know it: the safe guess", "unsure")


def _answered(facts: Facts) -> Guess | None:
    """What somebody answered: opinions and habits, which only those know who asked; and what is to be predicted."""
    if facts.few and facts.profile.name.strip().lower() in patterns.PREDICTED:
        return Guess("sensitive", "its name is what models call the outcome to predict", "unsure")
    if (
        not KINDS[facts.kind].numbers
        and facts.texts
        and facts.profile.distinct <= FEW
        and recognizers.are_answers(facts.texts)
    ):
        return Guess("sensitive", "answers on a scale of opinions or habits", "unsure")
    for what, words in (("name", facts.profile.name), ("label", facts.called)):
        if facts.few and is_question(words):
            return Guess("sensitive", f"its {what} is a question: what was answered, others rarely know", "unsure")
    if facts.few and facts.items >= ITEMS:
        return Guess("sensitive", f"one of {facts.items} items of a questionnaire or test", "unsure")
    return None


def _measured(facts: Facts) -> Guess | None:
    """Measurements that differ from row to row; totals and averages that repeat may be public, as those of players."""
    if not KINDS[facts.kind].numbers:
        return None
    decimals = [len(str(value).partition(".")[2]) for value in facts.values]
    precise = len(decimals) > FEW and sum(length >= PRECISE for length in decimals) > 0.5 * len(decimals)
    if precise or (facts.profile.uniqueness > 0.5 and any(decimals)):
        return Guess("sensitive", "measured numbers, which others rarely know", "unsure")
    return None


def _share(profile: Profile) -> str:
    return f"{profile.single / max(1, profile.distinct):.0%}"


RULES: tuple[Callable[[Facts], Guess | None], ...] = (
    _constant,
    _by_content,
    _weight,
    _identifying_name,
    _coordinates,
    _numbering,
    _sensitive_content,
    _by_name,
    _by_part_of_a_word,
)
