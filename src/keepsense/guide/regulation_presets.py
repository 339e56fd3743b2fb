"""Presets: sets of rules from regulations, ready to be applied to the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from keepsense.errors import BadInput, did_you_mean
from keepsense.privacy.risk_thresholds import MaximumRisk, StrictAverageRisk


@dataclass(frozen=True)
class Preset:
    """What a set of rules asks for: columns that must go, columns to coarsen, and a promise.

    `remove` and `coarsen` map patterns of column names to the reason or to what must be done.

    >>> preset("hipaa").found(["ssn", "age", "diagnosis"])
    {'ssn': 'remove: social security number', 'age': 'all ages above 89 become 90 or more'}
    """

    name: str
    title: str
    about: str
    k: int | None = None
    privacy: tuple[Mapping[str, Any], ...] = ()
    remove: Mapping[str, str] = field(default_factory=dict)
    coarsen: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def found(self, columns: Iterable[str]) -> dict[str, str]:
        """What the rules say about these columns, judged by their names alone."""
        remarks = {}
        for column in columns:
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column)
            plain = " ".join(re.split(r"[\s_\-./]+", words.lower())).strip()
            for pattern, why in self.remove.items():
                if re.search(rf"\b(?:{pattern})\b", plain):
                    remarks[column] = f"remove: {why}"
                    break
            else:
                for pattern, what in self.coarsen.items():
                    if re.search(rf"\b(?:{pattern})\b", plain):
                        remarks[column] = what
                        break
        return remarks


_HIPAA = Preset(
    name="hipaa",
    title="HIPAA-style identifiers",
    about=(
        "The identifiers that the Safe Harbor rule of the United States (45 CFR 164.514(b)(2)) wants removed or "
        "coarsened. It is a list of columns, not a promise: promise k-anonymity besides."
    ),
    remove={
        "(?:first|last|full|family|given|middle|maiden|sur)? ?name|surname": "name",
        "phone|telephone|mobile|cell": "telephone number",
        "fax": "fax number",
        "e ?mail|mail address": "e-mail address",
        "ssn|social security(?: number| no)?|nhs number": "social security number",
        "mrn|medical record(?: number| no)?|patient(?: id| no| number)?|chart no": "medical record number",
        "insurance(?: id| no| number)?|beneficiary|policy(?: id| no| number)?|member id": "health plan number",
        "account(?: id| no| number)?|iban|card(?: no| number)?": "account number",
        "licen[cs]e(?: id| no| number)?|certificate(?: no| number)?|passport(?: no| number)?": "certificate or licence",
        "vin|plate|vehicle(?: id| no| number)?|registration(?: no| number)?": "vehicle identifier",
        "device(?: id| no| number)?|serial(?: no| number)?|imei": "device identifier",
        "url|website|homepage": "web address",
        "ip|ip address": "IP address",
        "fingerprint|iris|voice ?print|biometric": "biometric identifier",
        "photo|picture|portrait|image": "photograph",
        "street|address|house(?: no| number)?|latitude|longitude|lat|lon": "place smaller than a state",
        "id|uuid|guid|key|person(?: id)?|code of person": "any other unique number or code",
    },
    coarsen={
        "age": "all ages above 89 become 90 or more",
        "(?:date of )?birth(?: ?date| ?day)?|dob|born": "dates become years, and none may show an age above 89",
        "(?:admission|discharge|death|visit)(?: date)?|date.*|.* date": "dates become years",
        "zip(?: ?code)?|post ?code|postal code|plz": (
            "only the first three digits, and 000 where 20,000 people or fewer live"
        ),
        "city|town|village|county|municipality|district|place": "places smaller than a state become the state",
    },
    notes=(
        "Column names are looked at, not cells: free text and odd names need your eyes.",
        "The rule also asks that you do not know of a way to recognize somebody in what is left.",
    ),
)
_LIMIT = MaximumRisk(0.09)
_RISK = Preset(
    name="risk-0.09",
    title="Risk of at most 0.09",
    about=(
        "No record is re-identified with a chance above 0.09, the threshold that regulators of medicines in Europe and "
        "Canada name for clinical data that is published."
    ),
    k=_LIMIT.least_size,
    privacy=(_LIMIT.promise(),),
    notes=(
        "At most 0.09 means groups of 12. Many take 11, since 1/11 = 0.0909 is 0.09 when rounded; Keepsense does not "
        "round in its own favour.",
        "It is a promise about who somebody is; add l-diversity or t-closeness for what they have.",
    ),
)
_EMA = replace(
    _RISK,
    name="ema",
    title="EMA Policy 0070",
    about=(
        "Clinical reports that the European Medicines Agency publishes (Policy 0070), and Health Canada likewise: no "
        "record is re-identified with a chance above 0.09."
    ),
)
_AVERAGE = StrictAverageRisk(0.09)
_HIPAA_EXPERT = replace(
    _HIPAA,
    name="hipaa-expert",
    title="HIPAA, expert determination",
    about=(
        "What 45 CFR 164.514(b)(1) asks an expert to show, that the risk is very small, as it is often put in numbers: "
        "a strict average of at most 0.09 for data that is handed to few, besides removing what names people. The rule "
        "itself names no number."
    ),
    k=_AVERAGE.k,
    privacy=(_AVERAGE.promise(),),
    coarsen={},
    notes=(
        "0.09 is that of the smallest cell of 11 which the Medicare agency CMS lets be published; for data that is "
        "published take risk-0.09, which bounds every record.",
        "It is a promise about who somebody is; add l-diversity or beta-likeness for what they have.",
    ),
)
_PRESETS = {preset.name: preset for preset in (_HIPAA, _RISK, _EMA, _HIPAA_EXPERT)}


def presets() -> dict[str, Preset]:
    """All presets by name.

    >>> list(presets())
    ['hipaa', 'risk-0.09', 'ema', 'hipaa-expert']
    """
    return dict(_PRESETS)


def preset(name: str) -> Preset:
    """A preset by name.

    >>> preset("risk-0.09").k
    12
    """
    chosen = _PRESETS.get(name.lower())
    if chosen is None:
        known = ", ".join(_PRESETS)
        raise BadInput(f"no preset is called {name!r}; there are: {known}.{did_you_mean(name, _PRESETS)}")
    return chosen
