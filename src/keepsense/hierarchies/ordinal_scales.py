"""Ordered scales in words: levels of education, severity, months, sizes, answers, ranks.

`order_of` recognises the values of a column as steps of one scale, as numbered answers, or as intervals written as text
(`keepsense.hierarchies.intervals`), and puts them in order. Values that belong to no scale (`unknown`, `other`)
are listed separately. Nothing is recognised unless all other values are: half an order is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from keepsense.counts import Value
from keepsense.hierarchies.intervals import written_order
from keepsense.registry import Registry
from keepsense.taxonomy.word_forms import MISSING_MARKS, normalise

_LEAST = 3
"""Steps that a column must have: of two, neighbours joined are everything."""

_NOT_KNOWN = """
    unknown; other; others; missing; unspecified; undetermined; unclear; refused; unavailable; na; nan; null; invalid;
    not known; not available; not reported; not stated; not applicable; not specified; not recorded; not ascertained;
    dont know; no answer; no response; no data; no opinion; prefer not to say; unknown invalid; not in universe
"""
_BESIDE = frozenset(phrase.strip() for phrase in _NOT_KNOWN.split(";"))
_NUMBERED = re.compile(r"\s*[(\[]?(\d{1,3})(?:[.):\]]\s*|\s*[-–=]\s+|\s+-\s*)(?=\D*[^\W\d])")
_COUNTED = re.compile(
    r"\s*(?:day|week|month|quarter|year|visit|wave|round|cycle|stage|phase|grade|level|class|step|tier|rank|type|q)"
    r"[\s_-]*(\d{1,3})\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Scale:
    """An ordered scale: its steps from the lowest, each with its spellings, in natural parts that are joined first.

    >>> SCALES["severity"].place("Moderate"), SCALES["severity"].place("purple")
    (3, None)
    """

    name: str
    parts: tuple[tuple[tuple[str, ...], ...], ...]
    needs: tuple[str, ...] = ()

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        places: dict[str, tuple[int, int]] = {}
        step = 0
        for part, steps in enumerate(self.parts):
            for spellings in steps:
                for spelling in spellings:
                    places.setdefault(_plain(spelling), (step, part))
                step += 1
        return places

    def place(self, value: Value) -> int | None:
        """Rank of a value, 0 the lowest; None where it is no step of the scale."""
        hit = self._places.get(_plain(str(value)))
        return None if hit is None else hit[0]

    def places(self, spelled: Sequence[str]) -> list[tuple[int, int]] | None:
        """Rank and natural part of steps in their plain spelling; None where one of them is no step of the scale."""
        hits = [self._places[text] for text in spelled if text in self._places]
        return hits if len(hits) == len(spelled) else None


@dataclass(frozen=True)
class Ordered:
    """Values of a column in order, those that stand beside it, the parts that are joined first, and what it is.

    >>> order_of(["high", "low", "medium", "unknown"])
    Ordered(values=('low', 'medium', 'high'), beside=('unknown',), parts=(0, 0, 0), what='amount')
    """

    values: tuple[Value, ...]
    beside: tuple[Value, ...] = ()
    parts: tuple[int, ...] = ()
    what: str = ""


def is_beside(value: Value) -> bool:
    """Whether a value tells that a step of a scale is not known, so that it has no place in any order.

    >>> [is_beside(cell) for cell in ("Unknown", "?", "Not reported", "low")]
    [True, True, True, False]
    """
    text = str(value).strip()
    return text in MISSING_MARKS or not text or normalise(text) in _BESIDE


def order_of(values: Iterable[Value], column: str = "") -> Ordered | None:
    """The values of a column in order, where they are steps of one scale, numbered, or written intervals; else None.

    >>> order_of(["9th", "HS-grad", "Bachelors", "Some-college"]).values
    ('9th', 'HS-grad', 'Some-college', 'Bachelors')
    >>> order_of(["65+", "10-14", "15-64"]).values, order_of(["2. fair", "1. poor", "3. good"]).values
    (('10-14', '15-64', '65+'), ('1. poor', '2. fair', '3. good'))
    >>> order_of(["nurse", "clerk", "baker"]) is None
    True
    """
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    beside = tuple(value for value in distinct if is_beside(value))
    steps = [value for value in distinct if not is_beside(value)]
    if len(steps) < 2:
        return None
    spans = written_order(steps)
    if spans is not None:
        return Ordered(tuple(spans), beside, what="intervals written as text")
    if len(steps) < _LEAST:
        return None
    numbered = _numbered(steps)
    if numbered is not None:
        return Ordered(tuple(numbered), beside, what="numbered steps")
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", column).lower()))
    spelled = [_plain(str(value)) for value in steps]  # once, for there are many scales
    for name, scale in SCALES.items():
        if scale.needs and not words.intersection(scale.needs):
            continue
        places = scale.places(spelled)
        if places is None or len({step for step, _ in places}) < max(_LEAST, len(steps) - 1):
            continue
        order = sorted(range(len(steps)), key=lambda i: (places[i][0], str(steps[i])))
        return Ordered(tuple(steps[i] for i in order), beside, tuple(places[i][1] for i in order), name)
    return None


def _numbered(steps: Sequence[Value]) -> list[Value] | None:
    """Values in the order of the numbers that they begin with or count by (`week 3`), where each has another."""
    for form in (_NUMBERED, _COUNTED):
        hits = [(form.match(str(value)), value) for value in steps]
        numbers = {int(hit[1]): value for hit, value in hits if hit is not None}
        if len(numbers) == len(steps):
            return [numbers[number] for number in sorted(numbers)]
    return None


_JOINED = re.compile(r"([a-z])([A-Z])")
_DROPPED = frozenset({"degree", "level", "the", "risk", "education", "income", "severity"})


def _plain(text: str) -> str:
    """A step without what its spelling varies in; words that say what the scale is about are left out."""
    key = normalise(_JOINED.sub(r"\1 \2", text.replace("&", " and ")))
    words = [word for word in key.split() if word not in _DROPPED]
    return " ".join(words) or key


SCALES: Registry[Scale] = Registry("scale")
"""Scales by name, the more special first: what stands earlier is tried earlier."""

# One scale after the other: steps are parted by ;, spellings of one by /, and natural parts by |
_SCALES = """
months: january/jan; february/feb; march/mar | april/apr; may; june/jun | july/jul; august/aug; september/sep/sept |
  october/oct; november/nov; december/dec
days of the week: monday/mon; tuesday/tue/tues; wednesday/wed; thursday/thu/thur/thurs; friday/fri | saturday/sat;
  sunday/sun
seasons: winter; spring; summer; autumn/fall
education: none/no schooling/illiterate/no formal/no; preschool/nursery school/kindergarten; 1st 4th/1st; 2nd; 3rd;
  4th; 5th 6th/5th; 6th; primary school/primary/elementary school/elementary/grade school; 7th 8th/7th; 8th | 9th;
  10th; 11th; 12th/12th no diploma; less than high school/some high school/high school dropout/did not finish high
  school/lt high
  school/less than hs/basic/lower secondary | high school/hs grad/high school graduate/high school grad/high school
  diploma/hs/highschool/ged/secondary/secondary school/upper secondary/high school or ged/university high school |
  some college/some college no/some university; assoc voc/vocational/trade school/technical/vocational school; assoc
  acdm/associate/associates/junior college/community college/associate s | bachelors/bachelor/bachelor
  s/college/college graduate/college grad/university/undergraduate/college 4 years/university
  degree/tertiary/graduated college; some graduate school/some postgraduate | masters/master/master s/graduate
  school/graduate/postgraduate/post graduate/advanced/higher; prof school/professional/professional school;
  doctorate/phd/ph d/doctoral/doctor
academic ranks: lecturer/instructor; assistant professor/asst prof/assistant/asst; associate professor/assoc
  prof/associate; professor/prof/full professor/full
ages: infant/baby/newborn; toddler; child/children; adolescent/teenager/teen/youth/juvenile; young adult/young;
  adult/adults; middle aged/middle age/middle/midlife; older adult/senior/elderly/old/aged/older; very old/oldest old
decades of life: teens; twenties; thirties; forties; fifties; sixties; seventies; eighties; nineties
agreement: strongly disagree/completely disagree/disagree strongly/totally disagree; disagree/mostly disagree;
  somewhat disagree/slightly disagree/disagree somewhat/tend to disagree; neutral/neither agree nor
  disagree/neither/undecided/not sure/unsure; somewhat agree/slightly agree/agree somewhat/tend to agree; agree/mostly
  agree; strongly agree/completely agree/agree strongly/totally agree
satisfaction: very dissatisfied/very unsatisfied; dissatisfied/unsatisfied/somewhat dissatisfied;
  neutral/neither/neither satisfied nor dissatisfied; satisfied/somewhat satisfied; very satisfied/extremely satisfied
likelihood: very unlikely/extremely unlikely; unlikely/somewhat unlikely; neutral/even chance/neither; likely/somewhat
  likely; very likely/extremely likely
importance: not at all important/not important/unimportant; slightly important/not very important/not too important;
  somewhat important/moderately important; important; very important; extremely important
happiness: very unhappy; not too happy/not very happy/unhappy; pretty happy/fairly happy/happy; very happy
politics: extremely liberal/very liberal; liberal; slightly liberal; moderate/middle of the road; slightly
  conservative; conservative; extremely conservative/very conservative
extent: none/not at all/no/never; hardly/hardly any/a little/a little bit/little/slightly; some/somewhat/a bit;
  moderately/moderate; quite a bit/quite/considerably; a lot/very/very much/much; extremely/a great deal/completely
frequency: never; almost never/very rarely; rarely/seldom/hardly ever; occasionally/once in a while; sometimes/some of
  the time/now and then; often/frequently/usually/most of the time; very often/almost always/nearly always; always/all
  the time
time between: hourly; daily/every day; weekly/every week; fortnightly/biweekly; monthly/every month; quarterly;
  yearly/annually/annual/every year; never
quality: very bad/terrible/very poor/awful; bad; poor/inadequate/po; below average; fair/regular/fa;
  average/ok/okay/medium/adequate/acceptable; typical/ta; above average; good/gd; very good; premium;
  excellent/ideal/outstanding/ex
severity: none/no/absent/asymptomatic/normal; minimal/trace/very mild/trivial; mild/slight/minor; moderate;
  marked/major/serious; severe; very severe/critical/extreme; fatal/life threatening/death
damage: none/no injury/uninjured; possible/possible injury; minor/light/slight; moderate/serious; severe/heavy/major;
  destroyed/fatal/killed/total
amount: none/no/zero/nil; very low/lowest/minimal; low/lo; medium low/mid low/low medium/low mid;
  medium/mid/med/moderate/intermediate/average/normal/middle; medium high/mid high/upper mid/high mid; high/hi; very
  high/highest/extreme
social class: lower class/lower/poor; working class/working; lower middle class/lower middle; middle class/middle;
  upper middle class/upper middle; upper class/upper/rich
sizes: very small/tiny/mini/extra small/xs/xsmall/x small; small/s/sm; small medium;
  medium/m/med/midsize/mid/average/regular/compact; medium large; large/l/lg/big; very large/extra large/xl/xlarge/x
  large/huge; xxl/xx large/2xl; xxxl/3xl
lengths: very short; short; medium/middle/average/mid; long/tall; very long/very tall
weights: underweight/very light; light/thin/normal/normal weight/healthy; medium/average; heavy/overweight; very
  heavy/obese
speeds: very slow; slow; medium/moderate/normal; fast/quick; very fast
temperatures: very cold; cold; cool; mild/moderate/temperate; warm; hot; very hot
hardness: very soft; soft; medium/moderate; hard; very hard
depths: surface; shallow; medium/middle; deep
experience: none/novice/beginner; junior/entry/basic; intermediate/mid/regular; advanced/senior/experienced;
  expert/master/principal/lead
degree of urbanity: rural/farm; small town/village; town/suburb/suburban/semi urban; small city/city; urban/large
  city/big city/metropolitan
comparison: much worse/much less/much lower; worse/less/lower/smaller; same/about the same/equal/stayed the same/no
  change/unchanged; better/more/higher/greater/larger; much better/much more/much higher
ordinal numbers: first/1st/1st class/first class; second/2nd/2nd class/second class; third/3rd/3rd class/third class;
  fourth/4th; fifth/5th; sixth/6th; seventh/7th; eighth/8th; ninth/9th; tenth/10th; eleventh/11th; twelfth/12th
number words: zero; one; two; three; four; five; six; seven; eight; nine; ten
Roman numbers: 0; i/stage i; ii/stage ii; iii/stage iii; iv/stage iv; v/stage v; vi; vii; viii; ix; x
school years: freshman; sophomore; junior; senior
periods: early; early middle/early mid; middle/mid; late middle/late mid; late
parts of a day: dawn/early morning; morning; noon/midday; afternoon; evening; night; late night/midnight
"""
_LETTERS = Scale(
    "letter grades",
    (tuple((grade,) for grade in ("f", "e", "d-", "d", "d+", "c-", "c", "c+", "b-", "b", "b+", "a-", "a", "a+")),),
    needs=("grade", "grades", "mark", "marks", "rating", "score", "letter"),  # letters are steps where the name says so
)


def _parts(text: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(
        tuple(tuple(spelling.strip() for spelling in step.split("/")) for step in part.split(";") if step.strip())
        for part in text.split("|")
    )


for _line in re.split(r"\n(?=\S)", _SCALES.strip()):
    _name, _, _text = " ".join(_line.split()).partition(": ")
    SCALES.add(_name, Scale(_name, _parts(_text)))
SCALES.add(_LETTERS.name, _LETTERS)
