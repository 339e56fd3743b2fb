"""The front door in Python: a frame or a file in, a verified release out; and what goes before and after it.

>>> import keepsense as ks
>>> people = {"age": [31, 34, 38, 52, 55, 58] * 5, "illness": ["flu", "cold", "asthma"] * 10}
>>> release = ks.anonymize(people, k=5, quasi_identifiers=["age"], sensitive={"illness": ks.LDiversity(2)})
>>> release.verification.ok, sorted(release.frame)
(True, ['age', 'illness'])
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack, overload

from keepsense.errors import BadInput, Infeasible
from keepsense.results import Comparison, Release, Trial

if TYPE_CHECKING:
    from keepsense.guide.advise import Guidance
    from keepsense.guide.answers import Promise, Purpose
    from keepsense.hierarchies import Hierarchy
    from keepsense.privacy import Model, Verification
    from keepsense.progress import Listener
    from keepsense.project.inspect import Inspection
    from keepsense.release.assess import Assessment
    from keepsense.results import ArrowTable
    from keepsense.taxonomy import Taxonomy

F = TypeVar("F")
File: TypeAlias = "str | PathLike[str]"
Names: TypeAlias = "str | Sequence[str]"


class Options(TypedDict, total=False):
    """What `anonymize` takes beside the data; each is explained there.

    >>> wishes: Options = {"k": 10, "suppression": 0.01}
    """

    k: int | None
    quasi_identifiers: Names
    sensitive: Names | Mapping[str, Model | Sequence[Model] | None]
    identifiers: Names
    insensitive: Names
    person: str | None
    target: str | None
    kinds: Mapping[str, str] | None
    hierarchies: Mapping[str, Hierarchy | File] | None
    taxonomies: Mapping[str, Taxonomy | File] | None
    weights: Mapping[str, float] | None
    columns: Mapping[str, Mapping[str, object]] | None
    models: Sequence[Model]
    method: str | None
    parameters: Mapping[str, object] | None
    suppression: float
    seed: int | None
    engine: str
    listener: Listener | None


@overload
def anonymize(data: File, **options: Unpack[Options]) -> Release[ArrowTable]: ...
@overload
def anonymize(data: F, **options: Unpack[Options]) -> Release[F]: ...
def anonymize(
    data: object,
    *,
    k: int | None = None,
    quasi_identifiers: Names = (),
    sensitive: Names | Mapping[str, Model | Sequence[Model] | None] = (),
    identifiers: Names = (),
    insensitive: Names = (),
    person: str | None = None,
    target: str | None = None,
    kinds: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Hierarchy | File] | None = None,
    taxonomies: Mapping[str, Taxonomy | File] | None = None,
    weights: Mapping[str, float] | None = None,
    columns: Mapping[str, Mapping[str, object]] | None = None,
    models: Sequence[Model] = (),
    method: str | None = None,
    parameters: Mapping[str, object] | None = None,
    suppression: float = 0.05,
    seed: int | None = None,
    engine: str = "duckdb",
    listener: Listener | None = None,
) -> Release[Any]:
    """Anonymize a table and give back a verified release, or raise `Infeasible` and give back nothing.

    `data` is a frame (pandas, Polars, Arrow, a DuckDB relation, a mapping of columns) or the path of a file. The
    release's `frame` is of the same kind, for a path an Arrow table. Columns that are released as they are keep their
    types; generalized ones hold text (ranges, words); see the how-to page on Python.

    Roles: `quasi_identifiers` are the columns by which people could be recognized, `identifiers` name them outright
    and are removed, `sensitive` ones are released and protected (a mapping says by which promise), `insensitive` ones
    are released as they are; `person` tells whose rows belong together, `target` is what readers want to predict. What
    is not given is guessed as `keepsense init` guesses it; the release's `columns` tell each guess and its reason.

    Promises: `k` (5 unless a model is given), the models of sensitive columns, and further `models`. `method` is a
    name that `guide` knows, with its `parameters`; `suppression` the share of records that may be left out.

    Meaning: `kinds`, `hierarchies` (hierarchies, or their files), `taxonomies` (taxonomies, their files, or "wordnet"),
    `weights` (how much a column's loss counts); `columns` takes any other key of a project file's column.

    `seed` makes random choices repeatable; keep it secret, since with it swaps and noise can be undone.

    >>> import keepsense as ks
    >>> people = {"job": ["nurse", "surgeon", "clerk", "cashier"] * 5, "ill": ["flu", "cold"] * 10}
    >>> jobs = ks.Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"),
    ...     ("clerk", "office", "*"), ("cashier", "office", "*")])
    >>> release = ks.anonymize(people, k=10, quasi_identifiers=["job"], insensitive=["ill"], hierarchies={"job": jobs})
    >>> sorted(set(release.frame["job"])), round(release.utility["certainty penalty"], 2)
    (['medic', 'office'], 0.33)
    """
    from keepsense.draft.wishes import Wishes, drafted

    wishes = Wishes.of(
        roles={
            "quasi-identifier": quasi_identifiers,
            "identifier": identifiers,
            "sensitive": sensitive,
            "insensitive": insensitive,
            "person": person or (),
            "target": target or (),
        },
        keys={"kind": kinds, "hierarchy": hierarchies, "taxonomy": taxonomies, "weight": weights},
        columns=columns,
        k=k,
        models=models,
        method=method,
        parameters=parameters,
        suppression=suppression,
    )
    project, reasons, given = drafted(data, wishes, engine=engine)
    return _released(project, reasons, given, seed=seed, engine=engine, listener=listener)
