"""The keys of the project file that a decision changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keepsense.draft.inspected_column import Inspected
from keepsense.draft.project_text import column_keys, promises_of
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
from keepsense.project.project_file import Project
from keepsense.project.roles import ROLES
from keepsense.project.toml_editor import Keys


def role_keys(project: Project, seen: Inspected, role: str) -> Keys:
    """A column gets another role, and the keys and promises that a draft gives a column of that role.

    >>> from keepsense.draft.inspection import inspect
    >>> from keepsense.release.example import example_job
    >>> seen = inspect({"job": ["nurse", "clerk", "nurse", "clerk"]}).columns[0]
    >>> role_keys(example_job().project, seen, "insensitive")["columns", "job", "role"]
    'insensitive'
    """
    column = seen.name
    said = project.columns.get(column)
    before = {} if said is None else said.model_dump(exclude_unset=True)
    usual = column_keys(replace(seen, role=str(before.get("role", seen.role))))
    own = {key: value for key, value in before.items() if usual.get(key) != value}
    keys = {**column_keys(replace(seen, role=role)), **own, "role": role}
    if not ROLES[role].coarse:
        keys |= {"width": None, "level": None}
    changes: dict[tuple[str, ...], object] = {("columns", column, key): None for key in before if key not in keys}
    changes |= {("columns", column, key): value for key, value in keys.items()}
    changes["privacy",] = _promises_with(project, seen, role)
    return changes


def _promises_with(project: Project, seen: Inspected, role: str) -> list[dict[str, Any]]:
    """The promises when a column has another role: none about it unless it is sensitive, people where counted."""
    column, promises = seen.name, [dict(promise) for promise in project.privacy]
    if role != "sensitive":
        promises = [promise for promise in promises if promise.get("column") != column]
    elif not any(promise.get("column") == column for promise in promises):
        promises += promises_of(replace(seen, role=role))
    for promise in promises:
        if role == "person" and promise["model"] == KAnonymity.name:
            promise |= {"model": XYAnonymity.name, "person": column}
        elif role != "person" and promise.get("person") == column:
            promise["model"] = KAnonymity.name
            del promise["person"]
    return promises


def kind_keys(project: Project, seen: Inspected, kind: str) -> Keys:
    """The values of a column are of another kind; what was said about their meaning goes where it no longer fits.

    >>> from keepsense.draft.inspection import inspect
    >>> from keepsense.release.example import example_job
    >>> seen = inspect({"job": ["nurse", "clerk", "nurse", "clerk"]}).columns[0]
    >>> sorted(kind_keys(example_job().project, seen, "ordinal")["columns", "job", "order"])
    ['clerk', 'nurse']
    """
    at = ("columns", seen.name)
    keys: dict[tuple[str, ...], object] = {(*at, "kind"): kind}
    if kind == "ordinal" and project.columns[seen.name].order is None:
        keys[*at, "order"] = [str(value) for value in seen.profile.values]
    if not KINDS[kind].words:
        keys |= {(*at, key): None for key in ("taxonomy", "domain", "mapping", "suggestions")}
    return keys


def promises_with_k(project: Project, k: int) -> list[dict[str, Any]]:
    """The promises with classes of at least k people, in the promise that says so, or in one more.

    >>> from keepsense.release.example import example_job
    >>> promises_with_k(example_job().project, 7)
    [{'model': 'k-anonymity', 'k': 7}]
    """
    promises = [dict(promise) for promise in project.privacy]
    sized = [promise for promise in promises if "k" in promise]
    if sized:
        sized[0]["k"] = k
    else:
        promises.insert(0, {"model": KAnonymity.name, "k": k})
    return promises


def method_keys(project: Project, name: str, parameters: Mapping[str, Any]) -> Keys:
    """Another method, with these parameters and no others.

    >>> from keepsense.release.example import example_job
    >>> job = example_job(method={"name": "mondrian", "parameters": {"relaxed": True}})
    >>> method_keys(job.project, "datafly", {})
    {('method', 'parameters', 'relaxed'): None, ('method', 'name'): 'datafly'}
    """
    keys: dict[tuple[str, ...], object] = {("method", "parameters", key): None for key in project.method.parameters}
    keys["method", "name"] = name
    return keys | {("method", "parameters", key): value for key, value in parameters.items()}
