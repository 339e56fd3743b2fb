"""The columns of a source, with the roles that the project file gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.method import Method
from keepsense.project.project_file import Project
from keepsense.project.roles import ROLES


@dataclass(frozen=True)
class Columns:
    """Which columns are released, which are recoded, and how: everything that only names decide.

    `quasi_identifiers` are those that the method decides on, `set_columns` the set-valued ones that are recoded after
    them, one after another inside the classes of what is recoded before. `wildcards` are quasi-identifiers whose empty
    cells fit any value.

    >>> project = Project.model_validate({
    ...     "columns": {"id": {"role": "identifier"}, "job": {"role": "quasi-identifier"}, "likes": {
    ...         "role": "quasi-identifier", "kind": "set"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 5}],
    ... })
    >>> from keepsense.methods.method import method
    >>> columns = resolve(project, ["id", "job", "likes"], method("optimal"))
    >>> columns.dropped, columns.released, columns.quasi_identifiers, columns.set_columns
    (('id',), ('job', 'likes'), ('job',), ('likes',))
    """

    names: tuple[str, ...]
    dropped: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    set_columns: tuple[str, ...]
    wildcards: tuple[str, ...]

    @property
    def released(self) -> tuple[str, ...]:
        """Columns of the release."""
        return tuple(name for name in self.names if name not in self.dropped)

    @property
    def every_quasi_identifier(self) -> tuple[str, ...]:
        """All columns by which people could be recognized, those with sets too: what promises are about."""
        return tuple(dict.fromkeys((*self.quasi_identifiers, *self.set_columns)))

    @property
    def missing(self) -> Literal["category", "wildcard"]:
        """What empty cells of the quasi-identifiers are: values of their own, or such that fit any.

        Where columns differ the stricter reading counts for all; the verifier goes by `wildcards`, column by column.
        """
        return "wildcard" if self.wildcards == self.every_quasi_identifier else "category"


def resolve(project: Project, names: Sequence[str], method: Method) -> Columns:
    """The columns of a source as a project file and its method take them; refuses what does not fit.

    >>> from keepsense.methods.method import method
    >>> project = Project.model_validate({"columns": {"job": {}}, "privacy": [{"model": "k-anonymity", "k": 5}]})
    >>> resolve(project, ["id"], method("optimal"))
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the project file lists the column 'job', but the source has no such column.
    """
    check_names(project, names)
    dropped = set(project.having(*(name for name, role in ROLES.items() if not role.released)))
    if project.unlisted == "drop":
        dropped |= {name for name in names if name not in project.columns}
    decided, sets = _divided(project, method)
    wild = tuple(n for n in dict.fromkeys((*decided, *sets)) if project.columns[n].missing == "wildcard")
    return Columns(tuple(names), tuple(name for name in names if name in dropped), decided, sets, wild)


def check_names(project: Project, names: Sequence[str]) -> None:
    """Refuse columns that the project file does not list, or lists and the source lacks.

    >>> project = Project.model_validate({"columns": {"job": {}}, "privacy": [{"model": "k-anonymity", "k": 5}]})
    >>> check_names(project, ["job"])
    """
    for name in project.columns:
        if name not in names:
            raise BadInput(
                f"the project file lists the column {name!r}, but the source has no such column."
                f"{did_you_mean(name, names)}"
            )
    for name, column in project.columns.items():
        for other in column.within:
            if other not in names:
                raise BadInput(
                    f"column {name!r}: `within` names the column {other!r}, but the source has no such column."
                    f"{did_you_mean(other, names)}"
                )
    unlisted = [name for name in names if name not in project.columns]
    if unlisted and project.unlisted == "refuse":
        raise BadInput(
            f"the source has columns that the project file does not list: {', '.join(unlisted)}; give each a role, "
            'or set unlisted = "drop" or "keep"'
        )


def _divided(project: Project, method: Method) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Quasi-identifiers that the method decides on, and set-valued ones that are recoded after those."""
    every = project.quasi_identifiers
    if not every:
        raise BadInput('no column has the role "quasi-identifier"; name those by which people could be recognized')
    if method.sets == "together":
        return every, ()
    sets = tuple(name for name in every if KINDS[project.columns[name].kind].sets)
    single = tuple(name for name in every if name not in sets)
    if method.sets == "only":
        if single:
            raise BadInput(
                f"the method {method.name!r} is for sets, but {single[0]!r} holds single values: name a "
                "method for those in [method], and this one in [set_method]"
            )
        return every, sets
    if not single:
        raise BadInput("all quasi-identifiers hold sets; choose a method for sets, such as set microaggregation")
    return single, sets
