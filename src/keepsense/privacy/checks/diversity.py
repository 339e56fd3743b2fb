"""Checks of l-diversity in its three forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepsense.privacy.checks.classes import Classes
from keepsense.privacy.checks.outcome import SLACK, Check, Unseen


def l_diversity(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Enough different, or well mixed, sensitive values in every class."""
    form = promise.get("form", "distinct")
    if form not in _FORMS:
        raise Unseen(f"the verifier knows no form {form!r} of l-diversity")
    return _FORMS[form](classes, promise, classes.counted(str(promise["column"])))


def _distinct(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    query = f"SELECT class_, count(*) AS x FROM {values} GROUP BY class_"
    return classes.judged(promise, query, f"x < {int(promise['l'])}", "min")


def _entropy(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    query = f"SELECT class_, exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) AS x FROM {values} GROUP BY class_"
    return classes.judged(promise, query, f"x < {float(promise['l']) * (1 - SLACK)!r}", "min")


def _recursive(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    ranked = f"SELECT class_, n, row_number() OVER (PARTITION BY class_ ORDER BY n DESC) AS place FROM {values}"
    rare = f"sum(n) FILTER (WHERE place >= {int(promise['l'])})"
    query = f"SELECT class_, max(n) / nullif(coalesce({rare}, 0), 0) AS x FROM ({ranked}) ranked GROUP BY class_"
    return classes.judged(promise, query, f"x IS NULL OR x >= {float(promise['c'])!r}", "max")


_FORMS = {"distinct": _distinct, "entropy": _entropy, "recursive": _recursive}
