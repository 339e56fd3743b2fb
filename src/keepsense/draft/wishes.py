"""A project from a table and what somebody says about it in Python; what is not said is guessed, as in a draft."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from keepsense.draft.write import draft
from keepsense.engines import Engine
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies import Hierarchy
from keepsense.privacy import KAnonymity, Model, XYAnonymity, differentially_private
from keepsense.project.file import Project, check_project
from keepsense.project.inspection.inspect import Inspection, inspect
from keepsense.project.meaning import Given
from keepsense.taxonomy import Taxonomy

_USUAL_K = 5


@dataclass(frozen=True)
class Wishes:
    """What somebody says about a table: roles and other keys of its columns, promises, the method.

    `k` counts people where a column tells whose row it is, else rows; `models` are further promises. `columns` holds
    keys of a project file's column by name; hierarchies and taxonomies may be such in place of names.

    >>> Wishes({"job": {"role": "quasi-identifier"}}, k=3).roles
    {'job': 'quasi-identifier'}
    """

    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    models: tuple[Model, ...] = ()
    method: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    suppression: float = 0.05
    k: int | None = None

    @property
    def roles(self) -> dict[str, str]:
        """Roles that were given, by column."""
        return {name: keys["role"] for name, keys in self.columns.items() if "role" in keys}


def columns_of(
    roles: Mapping[str, str | Sequence[str] | Mapping[str, object]],
    keys: Mapping[str, Mapping[str, object] | None],
    further: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, dict[str, Any]]:
    """Keys of each column from lists of names by role, mappings by key, and whatever else is said of a column.

    >>> columns_of({"sensitive": "illness", "identifier": ["id"]}, {"weight": {"age": 2.0}, "kind": None})
    {'illness': {'role': 'sensitive'}, 'id': {'role': 'identifier'}, 'age': {'weight': 2.0}}
    """
    columns: dict[str, dict[str, Any]] = {}
    for role, names in roles.items():
        for name in [names] if isinstance(names, str) else names:
            taken = columns.setdefault(name, {}).setdefault("role", role)
            if taken != role:
                raise BadInput(f"column {name!r} is named as {taken} and as {role}; choose one role")
    for key, mapping in keys.items():
        for name, value in (mapping or {}).items():
            columns.setdefault(name, {})[key] = value
    for name, extra in (further or {}).items():
        columns.setdefault(name, {}).update(extra)
    return columns


def models_of(sensitive: str | Sequence[str] | Mapping[str, Any], further: Sequence[Model]) -> tuple[Model, ...]:
    """The promises beside k: what is said of sensitive columns, and further models; none where nothing is said.

    >>> from keepsense.privacy import LDiversity
    >>> models_of({"illness": LDiversity(2), "pay": None}, ())
    (DistinctDiversity(l=2, column='illness', missing='value', beside=()),)
    """
    models: list[Model] = []
    if isinstance(sensitive, Mapping):
        for name, wanted in sensitive.items():
            several = wanted if isinstance(wanted, Sequence) else [] if wanted is None else [wanted]
            models += [model.on(name) for model in several]
    return (*models, *further)


def drafted(data: object, wishes: Wishes, *, engine: str | Engine | None = None) -> tuple[Project, Inspection, Given]:
    """The project for a table, the inspection it rests on, and what goes along in memory.

    Under differential privacy nothing is guessed: a column of which nothing is said is left out.

    >>> people = {"job": ["nurse", "clerk"] * 9, "id": list(range(18))}
    >>> project, inspection, given = drafted(people, Wishes({"job": {"weight": 2.0}}))
    >>> project.quasi_identifiers, project.columns["job"].weight, inspection.having("identifier")
    (('job',), 2.0, ('id',))
    """
    inspection = inspect(data, roles=wishes.roles, engine=engine)
    _known(wishes, [column.name for column in inspection.columns])
    keys: dict[str, Any] = tomllib.loads(draft(inspection, source=_place(data), k=_USUAL_K, method=wishes.method))
    if not isinstance(data, str | PathLike):
        del keys["source"]
    if differentially_private(wishes.models):  # what a column is must not be guessed from the table then
        keys |= {"columns": {name: {} for name in wishes.columns}, "unlisted": "drop", "privacy": []}
    hierarchies: dict[str, Hierarchy] = {}
    taxonomies: dict[str, Taxonomy] = {}
    for name, said in wishes.columns.items():
        for key, value in said.items():
            if isinstance(value, Hierarchy):
                hierarchies[name] = value
            elif isinstance(value, Taxonomy):
                taxonomies[name] = value
                keys["columns"][name]["taxonomy"] = value.name
                keys["columns"][name].pop("domain", None)
            else:
                keys["columns"][name][key] = str(value) if isinstance(value, PathLike) else value
    models = (*_size(wishes.k, keys["columns"]), *wishes.models)
    if models:
        # what is guessed about the promises of sensitive columns holds where nothing was said of them
        guessed = [promise for promise in keys["privacy"] if promise.get("column") not in (None, *wishes.columns)]
        keys["privacy"] = [*(model.promise() for model in models), *guessed]
    if wishes.parameters:
        keys["method"]["parameters"] = dict(wishes.parameters)
    keys["release"] |= {"suppression": wishes.suppression}
    return check_project(keys, "what you said"), inspection, Given(hierarchies, taxonomies, models)


def _size(k: int | None, columns: Mapping[str, Mapping[str, Any]]) -> tuple[Model, ...]:
    """The promise about the size of classes: in people, where a column tells whose row it is."""
    if k is None:
        return ()
    person = next((name for name, said in columns.items() if said.get("role") == "person"), None)
    return (KAnonymity(k),) if person is None else (XYAnonymity(k, person),)


def _place(data: object) -> dict[str, str]:
    """Where a table lies, for a project whose paths start anywhere; frames lie nowhere."""
    if not isinstance(data, str | PathLike):
        return {"path": "table"}
    return {"path": str(data) if "://" in str(data) else str(Path(data).resolve())}


def _known(wishes: Wishes, names: Sequence[str]) -> None:
    for name in wishes.columns:
        if name not in names:
            raise BadInput(f"the table has no column {name!r}; it has {', '.join(names)}.{did_you_mean(name, names)}")
