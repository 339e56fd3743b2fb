"""Words that carry meaning, without their inflection: what glosses are compared by.

The stemmer is deliberately small. It undoes English inflection (plurals, -ing, -ed, -ly, common irregular forms) and
leaves derivation alone, so that `teach` and `teacher` stay two words. The embedded WordNet's gloss words were made with
it: a change here changes that file, and a test says so.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_VOWEL = re.compile(r"[aeiouy]")

_FUNCTION_WORDS = """
a about above across after again against all along also although am among an and another any anyone anything are
around as at away back be because been before being below between both but by can cannot could did do does doing
done down during each either else esp especially etc even ever every everyone everything few for from further had
has have having he her here hers herself him himself his how however i if in into is it its itself just least less
let like made make makes making many may me might more most much must my myself near neither no nor not nothing now
of off often on once one only onto or other others our ours out over own per rather same several shall she should so
some somebody someone something sometimes such than that the their theirs them themselves then there thereby
therefore these they this those though through thus to together too toward towards under until up upon us use used
uses using usually very via was we well were what when whenever where whereby which while who whom whose why will
with within without would yet you your yours
"""
_STOP = frozenset(_FUNCTION_WORDS.split())

_IRREGULAR_FORMS = """
begin: began begun; bring: brought; build: built; buy: bought; child: children; come: came; draw: drew drawn; fall:
fell fallen; fight: fought; find: found; foot: feet; fly: flew flown; give: gave given; go: goes gone went; grow:
grew grown; hold: held; keep: kept; know: knew known; lead: led; leaf: leaves; life: lives; lose: lost; man: men;
mouse: mice; person: persons people; say: said; sell: sold; send: sent; show: shown; speak: spoke spoken; stand:
stood; take: took taken; teach: taught; tell: told; think: thought; tooth: teeth; wear: wore worn; wife: wives; win:
won; wolf: wolves; woman: women; write: wrote written
"""
_IRREGULAR = {
    form: base.strip()
    for base, _, forms in (entry.partition(":") for entry in _IRREGULAR_FORMS.split(";"))
    for form in forms.split()
}


_NOT_INFLECTED = "anomaly assembly butterfly evening family italy july monopoly morning reply supply"
_WHOLE = frozenset(_NOT_INFLECTED.split())


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Undo English inflection, so that forms of one word become one string (which need not be a word).

    >>> [stem(w) for w in ("teachers", "running", "runs", "carried", "carries", "children", "glass")]
    ['teacher', 'run', 'run', 'carri', 'carri', 'child', 'glas']
    """
    word = word.lower().removesuffix("'s")
    word = _IRREGULAR.get(word, word)
    if len(word) > 3:
        if word.endswith(("sses", "shes", "ches", "xes", "zes", "ies")):
            word = word[:-2]
        elif word.endswith("s") and word[-2] not in "sui":
            word = word[:-1]
    for suffix in () if word in _WHOLE else ("ing", "ed", "ly"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest) and not (suffix == "ed" and rest[-1] == "e"):
            word = rest
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    if len(word) > 2 and word[-1] == "y" and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order: no function words, numbers or single letters.

    >>> content_words("(sports) someone in charge of training an athlete or a team")
    ['sport', 'charg', 'train', 'athlet', 'team']
    """
    return [stem(w) for w in _WORD.findall(text.lower()) if len(w) > 1 and w not in _STOP]


def plain_words(text: str) -> list[str]:
    """Words of a text as they are, in lower case: for languages the stemmer does not know.

    >>> plain_words("Persona que enseña, 2 años")
    ['persona', 'que', 'enseña', 'años']
    """
    return [w for w in _WORD.findall(text.lower()) if len(w) > 1]
