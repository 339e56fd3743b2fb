"""Checks of l-diversity in its three forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepsense.privacy.checks.classes import Classes, among, exact
from keepsense.privacy.checks.outcome import SLACK, Check, Unseen


def l_diversity(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Enough different, or well mixed, sensitive values in every class."""
    form = promise.get("form", "distinct")
    if form not in _FORMS:
        raise Unseen(f"the verifier knows no form {form!r} of l-diversity")
    classes = among(classes, promise)
    if asks_only_which(promise):
        return _enough(classes, promise, classes.different(str(promise["column"])))
    values = classes.counted(str(promise["column"]))
    how = promise.get("missing", "value")
    if how not in ("value", "unknown"):
        raise Unseen(f"the verifier knows no reading {how!r} of empty sensitive cells")
    return _FORMS[form](classes, promise, values if how == "value" else _known(values))


def asks_only_which(promise: Mapping[str, Any]) -> bool:
    """Whether a promise is about which values a class has, and not about how often.

    >>> asks_only_which({"model": "l-diversity", "l": 2}), asks_only_which({"model": "l-diversity", "form": "entropy"})
    (True, False)
    """
    plain = promise.get("form", "distinct") == "distinct" and promise.get("missing", "value") == "value"
    return promise.get("model") == "l-diversity" and plain


def _known(values: str) -> str:
    """The values without empty cells, which are added to the commonest of their class; they alone are one value."""
    blank = "(value IS NULL OR trim(value) = '')"
    place = f"row_number() OVER (PARTITION BY class_ ORDER BY {blank}, n DESC)"
    lost = f"sum(CASE WHEN {blank} THEN n ELSE 0 END) OVER (PARTITION BY class_)"
    ranked = f"SELECT class_, value, n, {blank} AS blank, {place} AS place, {lost} AS lost FROM {values}"
    counted = "CASE WHEN place > 1 THEN n WHEN blank THEN lost ELSE n + lost END"
    return (
        f"(SELECT class_, value, CAST({counted} AS BIGINT) AS n FROM ({ranked}) r WHERE place = 1 OR NOT blank) known"
    )


def _distinct(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    return _enough(classes, promise, f"SELECT class_, count(*) AS x FROM {values} GROUP BY class_")


def _enough(classes: Classes, promise: Mapping[str, Any], different: str) -> Check:
    return classes.judged(promise, different, f"x < {int(promise['l'])}", "min")


def _entropy(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    query = f"SELECT class_, exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) AS x FROM {values} GROUP BY class_"
    return classes.judged(promise, query, f"x < {float(promise['l']) * (1 - SLACK)!r}", "min")


def _recursive(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    ranked = f"SELECT class_, n, row_number() OVER (PARTITION BY class_ ORDER BY n DESC) AS place FROM {values}"
    rare = f"sum(CASE WHEN place >= {int(promise['l'])} THEN n ELSE 0 END)"
    c = exact(promise["c"])
    query = f"SELECT class_, max(n) AS a, {rare} AS b FROM ({ranked}) ranked GROUP BY class_"
    return classes.compared(promise, query, lambda head, tail: head >= c * tail)


_FORMS = {"distinct": _distinct, "entropy": _entropy, "recursive": _recursive}
