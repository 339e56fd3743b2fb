"""What a publisher should be warned of, whatever method is chosen."""

from __future__ import annotations

from keepsense.errors import Finding
from keepsense.guide.answers import Answers, asks_for_k, forms
from keepsense.privacy import ApproximatePrivacy, DifferentialPrivacy

_FEW = 5
_MANY_COLUMNS = 8


def warnings_for(answers: Answers) -> list[Finding]:
    """Remarks on the plan as a whole, coded.

    >>> [finding.code for finding in warnings_for(Answers(k=3, sensitive=True))]
    ['W501', 'W502']
    """
    remarks: list[tuple[str, str, str]] = []
    model = answers.model
    promise = answers.promise
    only_identity = model is not None and model.protects == ("identity",)
    if only_identity and answers.sensitive:
        remarks.append(
            (
                "W501",
                "promise",
                f"{promise} hides who somebody is, not what they have. A group whose members all share one diagnosis "
                "gives it away. Add l-diversity or t-closeness for the sensitive column",
            )
        )
    elif only_identity:
        remarks.append(
            (
                "W501",
                "promise",
                f"{promise} hides who somebody is. If any column holds what people would rather keep to themselves, "
                "call it sensitive and add l-diversity or t-closeness",
            )
        )
    if asks_for_k(promise) and answers.k < _FEW:
        remarks.append(
            (
                "W502",
                "k",
                f"k = {answers.k} leaves a chance of 1 in {answers.k} to recognize somebody; 5 is a usual least for "
                "known recipients, 11 or more for the public",
            )
        )
    if model is None:
        remarks.append(
            (
                "W503",
                "promise",
                "nothing is promised by construction: what comes out is attacked by linkage before it is released, and "
                "refused where too many records are found. Look at the risk in the report, too",
            )
        )
    if answers.rows is not None and asks_for_k(promise) and answers.rows < 20 * answers.k:
        remarks.append(
            (
                "W504",
                "size",
                f"{answers.rows:,} rows make at most {answers.rows // answers.k} groups of {answers.k}: expect coarse "
                "values",
            )
        )
    if answers.columns > _MANY_COLUMNS and (model is None or "membership" not in model.protects):
        remarks.append(
            (
                "W505",
                "columns",
                f"{answers.columns} columns by which people could be recognized: nearly everybody is unique then. "
                "Leave out columns that the purpose does not need",
            )
        )
    if answers.reuse:
        remarks.append(
            (
                "W506",
                "later files",
                "who is in several releases can be found by comparing them; the ledger of releases warns of it",
            )
        )
    if answers.sets and answers.others:
        remarks.append(
            (
                "W507",
                "sets",
                "sets are shared inside the groups that the other columns form, so the more such columns there are, "
                "the less is left of the sets. Leave out columns that the purpose does not need",
            )
        )
    if answers.sets and answers.others and answers.truthful:
        remarks.append(
            (
                "W508",
                "sets",
                "beside other columns, sets can only be released as made-up ones (set microaggregation). Where every "
                "set must be true, release the sets in a file of their own, or leave them out",
            )
        )
    if answers.truthful and model is DifferentialPrivacy:
        remarks.append(
            (
                "W509",
                "promise",
                f"{DifferentialPrivacy.name} is kept by drawing values anew, and you need true records: "
                f"{ApproximatePrivacy.name} is kept by true records of a random sample, but for a very small chance",
            )
        )
    remarks += [("W510", "promise", text) for text in _untold(answers)]
    if answers.meaning and not answers.privacy and answers.form != "concepts" and "concepts" in forms(promise):
        text = f'it is known what values of {answers.column} have in common: form = "concepts" bounds what a group '
        remarks.append(("W511", "promise", text + "tells of every kind of them, too"))
    return [Finding(*remark) for remark in remarks]


def _untold(answers: Answers) -> list[str]:
    """What somebody has to say before the promise can be made."""
    promise, model = answers.promise, answers.model
    texts = {
        "person": f'{promise} counts people: give the column that tells whose row it is the role "person"',
        "fraction": f"{promise} must know which share of the population is in the table; rather say more than less",
    }
    needed = [text for name, text in texts.items() if name in answers.untold]
    if model is not None and model.needs_population and not answers.population:
        needed.append(f"{promise} compares with a table of everybody: name it in [population]")
    return needed
