"""The functions that Python users call: a frame or a file goes in, a verified release comes out.

>>> import keepsense as ks
>>> people = {"age": [31, 34, 38, 52, 55, 58] * 5, "illness": ["flu", "cold", "asthma"] * 10}
>>> release = ks.anonymize(people, k=5, quasi_identifiers=["age"], sensitive={"illness": ks.LDiversity(2)})
>>> release.verification.ok, sorted(release.frame)
(True, ['age', 'illness'])
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, Unpack, overload

from keepsense.errors import Infeasible
from keepsense.results import Comparison, Release, Trial

if TYPE_CHECKING:
    from keepsense.draft.inspection import Inspection
    from keepsense.engines.protocol import Engine
    from keepsense.guide.advice import Guidance
    from keepsense.guide.answers import Purpose
    from keepsense.hierarchies.hierarchy import Hierarchy
    from keepsense.privacy.privacy_model import Model
    from keepsense.progress import Listener
    from keepsense.project.column_meaning import Given
    from keepsense.project.project_file import Project
    from keepsense.release.figures.assess import Assessment
    from keepsense.results import ArrowTable
    from keepsense.taxonomy.taxonomy import Taxonomy
    from keepsense.verification.check_result import Verification

F = TypeVar("F")
File: TypeAlias = "str | PathLike[str]"
Names: TypeAlias = "str | Sequence[str]"


class ColumnPromise(Protocol):
    """A promise that is yet to be given its column, such as `LDiversity(2)`.

    >>> from keepsense.privacy.l_diversity import LDiversity
    >>> wanted: ColumnPromise = LDiversity(2)
    >>> wanted.on("illness").columns
    ('illness',)
    """

    def on(self, column: str) -> Model:
        """The promise about a column."""


Sensitive: TypeAlias = "Names | Mapping[str, ColumnPromise | Sequence[ColumnPromise] | None]"


class Options(TypedDict, total=False):
    """What `anonymize` takes beside the data; each is explained there.

    >>> wishes: Options = {"k": 10, "suppression": 0.01}
    """

    k: int | None
    quasi_identifiers: Names
    sensitive: Sensitive
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
    engine: str | Engine | None
    listener: Listener | None


@overload
def anonymize(data: File, **options: Unpack[Options]) -> Release[ArrowTable]: ...
@overload
def anonymize(data: F, **options: Unpack[Options]) -> Release[F]: ...
def anonymize(  # noqa: PLR0913
    data: object,
    *,
    k: int | None = None,
    quasi_identifiers: Names = (),
    sensitive: Sensitive = (),
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
    engine: str | Engine | None = None,
    listener: Listener | None = None,
) -> Release[Any]:
    """Anonymize a table and give back a verified release, or raise `Infeasible` and give back nothing.

    `data` is a frame (pandas, Polars, Arrow, Spark, a DuckDB relation, a mapping of columns) or the path of a file. The
    release's `frame` is of the same kind, for a path an Arrow table. Columns that are released as they are keep their
    types; generalized ones hold text (ranges, words); see the how-to page on Python.

    Roles: `quasi_identifiers` are the columns by which people could be recognized, `identifiers` name them outright
    and are removed, `sensitive` ones are released and protected (a mapping says by which promise), `insensitive` ones
    are released as they are; `person` tells whose rows belong together, `target` is what readers want to predict. What
    is not given is guessed as `keepsense init` guesses it; the release's `columns` tell each guess and its reason.

    Promises: `k` (5 unless a model is given; people, not rows, where a column tells whose row it is), the models of
    sensitive columns, and further `models`. `method` is a name that `guide` knows, with its `parameters`; `suppression`
    the share of records that may be left out.

    Meaning: `kinds`, `hierarchies` (hierarchies, or their files), `taxonomies` (taxonomies, their files, or "wordnet"),
    `weights` (how much a column's loss counts); `columns` takes any other key of a project file's column.

    `seed` makes random choices repeatable; keep it secret, since with it swaps and noise can be undone.

    >>> import keepsense as ks
    >>> people = {"job": ["nurse", "surgeon", "clerk", "cashier"] * 5, "ill": ["flu", "cold"] * 10}
    >>> jobs = ks.Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"),
    ...     ("clerk", "office", "*"), ("cashier", "office", "*")])
    >>> release = ks.anonymize(people, k=10, quasi_identifiers=["job"], insensitive=["ill"], hierarchies={"job": jobs})
    >>> sorted(set(release.frame["job"])), round(release.utility["certainty penalty"], 2)
    (['medic', 'office'], 0.5)
    """
    from keepsense.draft.project_draft import Wishes, columns_of, draft_from_arguments, models_of
    from keepsense.engines.protocol import at_home

    wishes = Wishes(
        columns_of(
            {
                "quasi-identifier": quasi_identifiers,
                "identifier": identifiers,
                "sensitive": sensitive,
                "insensitive": insensitive,
                "person": person or (),
                "target": target or (),
            },
            {"kind": kinds, "hierarchy": hierarchies, "taxonomy": taxonomies, "weight": weights},
            columns,
        ),
        models_of(sensitive, models),
        method,
        parameters or {},
        suppression,
        k,
    )
    engine = engine or at_home(data)
    project, inspection, given = draft_from_arguments(data, wishes, engine=engine)
    return _made(data, project, inspection, given, {"rng": seed, "engine": engine, "listener": listener})


def run(  # noqa: PLR0913
    project: File,
    *,
    source: File | None = None,
    output: File | None = None,
    settings: Mapping[str, Any] | None = None,
    reuse: File | None = None,
    unknown: Literal["refuse", "suppress"] = "refuse",
    seed: int | None = None,
    engine: str | Engine | None = None,
    listener: Listener | None = None,
) -> Release[ArrowTable]:
    """Make the release that a project file asks for, where it asks for it; what `keepsense run` does.

    `source` is another table than the one it names, `output` another folder or file for the release, and `settings` are
    keys with other values (`{"privacy.0.k": 10}`). `reuse` applies the recoding of an earlier release, and `unknown`
    says what becomes of values that its rules do not cover.

    >>> import keepsense as ks, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("job,age\\n" + "nurse,31\\nclerk,40\\n" * 5)
    ...     _ = (Path(folder) / "keepsense.toml").write_text('''
    ...         source.path = "people.csv"
    ...         columns.job.role = "quasi-identifier"
    ...         columns.age.role = "insensitive"
    ...         privacy = [{ model = "k-anonymity", k = 5 }]
    ...     ''')
    ...     ks.run(Path(folder) / "keepsense.toml").frame.num_rows
    10
    """
    from keepsense.project.project_file import adjusted_project
    from keepsense.release.run import run as make

    path = None if reuse is None else Path(reuse)
    adjusted = adjusted_project(
        Path(project), source=None if source is None else str(source), output=output, settings=settings or {}
    )
    how: dict[str, Any] = {"reuse": path, "unknown": unknown, "rng": seed, "engine": engine, "listener": listener}
    return Release(make(adjusted, folder=Path(project).parent, **how))


def read_release(folder: File, library: Literal["pyarrow", "pandas", "polars"] | None = None) -> Any:
    """Open a release folder as those who receive it do: its rows as a frame, with what labels mean beside them.

    A column of bands or spans gets two more, `age lower` and `age upper`, which are numbers or days, empty where the
    band is open or the cell hidden; a column of concepts gets `job concept`. `library` is that of the frame; without
    one, pandas or Polars, whichever is installed, or Arrow. What else the publisher says about the columns stands under
    `dictionary` in `release.json`.

    >>> import keepsense as ks, tempfile
    >>> release = ks.anonymize({"age": [31, 34, 38, 52, 55, 58] * 5}, k=10, quasi_identifiers=["age"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = release.save(f"{folder}/published")
    ...     rows = ks.read_release(file.parent, "polars")
    >>> rows.select("age", "age lower", "age upper").unique().sort("age").rows()
    [('50 or more', 50.0, None), ('under 40', None, 40.0)]
    """
    from keepsense.release.folder.recipient import read_release as read

    return read(Path(folder), library)


def inspect(data: object, *, engine: str | Engine | None = None) -> Inspection:
    """Look at a table, a frame or a file, before anything is done: what each column is, and which role it may have.

    >>> import keepsense as ks
    >>> ks.inspect({"job": ["nurse", "clerk", "nurse"], "age": [31, 40, 35]}).having("quasi-identifier")
    ('job', 'age')
    """
    from keepsense.draft.inspection import inspect as look
    from keepsense.engines.protocol import at_home

    return look(data, engine=engine or at_home(data))


def verify(  # noqa: PLR0913
    released: object,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    quasi_identifiers: Names,
    sensitive: Names = (),
    original: object | None = None,
    identifiers: Names = (),
    suppression: float | None = None,
    missing: Literal["category", "wildcard"] = "category",
    person: str | None = None,
    show_values: bool = False,
    engine: str | Engine | None = None,
) -> Verification:
    """Check a table, whoever made it, against promises: read like a recipient would, by code of its own.

    With the `original` no row may be added, and no more than the share `suppression` of them may be missing. `person`
    is a column that tells which rows belong to one person: `k` then counts people.

    >>> import keepsense as ks
    >>> ks.verify({"job": ["medic", "medic", "clerk"]}, k=2, quasi_identifiers=["job"]).ok
    False
    """
    from keepsense.engines.protocol import at_home
    from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
    from keepsense.verification.verifier import verify as check

    promises: list[Model] = list(models)
    if k is not None:
        promises.insert(0, KAnonymity(k) if person is None else XYAnonymity(k, person))
    return check(
        released,
        promises,
        quasi_identifiers=_names(quasi_identifiers),
        sensitive=_names(sensitive),
        original=original,
        identifiers=_names(identifiers),
        suppression=suppression,
        missing=missing,
        show_values=show_values,
        engine=engine or at_home(released),
    )


def assess(  # noqa: PLR0913
    original: object,
    released: object,
    quasi_identifiers: Names,
    models: Sequence[Model] = (),
    *,
    sensitive: Names = (),
    hierarchies: Mapping[str, Hierarchy | File] | None = None,
    population: object | None = None,
    person: str | None = None,
    suppressed: Names = "*",
    missing: Names = (),
    sampling_fraction: float | None = None,
    household: str | None = None,
    engine: str | Engine | None = None,
) -> Assessment:
    """Compare a release, made by whatever tool, with its original: risk, class sizes, what became of each column.

    `person` is a column that tells which rows belong to one person: classes and risk then count people. `suppressed`
    are the texts of cells that were suppressed, `missing` those of cells of which nothing is known. `models` are
    promises to look at, `hierarchies` say what labels stand for, `population` is the table of everybody (for k-map).
    With `sampling_fraction`, the share of the population that is in the table, uniqueness there is estimated;
    `household` is a column that tells who lives together.

    >>> import keepsense as ks
    >>> before, after = {"job": ["nurse", "surgeon", "clerk"]}, {"job": ["medic", "medic", "clerk"]}
    >>> ks.assess(before, after, ["job"]).k
    1
    """
    from keepsense.engines.protocol import at_home
    from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy
    from keepsense.release.figures.asked import Asked
    from keepsense.release.figures.assess import assess as compared

    trees = {
        name: read_hierarchy(Path(tree), name) if isinstance(tree, str | PathLike) else tree
        for name, tree in (hierarchies or {}).items()
    }
    return compared(
        original,
        released,
        _names(quasi_identifiers),
        sensitive=_names(sensitive),
        person=person,
        suppressed=_names(suppressed),
        missing=_names(missing),
        asked=Asked(tuple(models), trees, population),
        sampling_fraction=sampling_fraction,
        household=household,
        engine=engine or at_home(original),
    )


def compare(data: object, methods: Sequence[str], **options: Unpack[Options]) -> Comparison:
    """Try several methods on a table with the same promises, and release nothing: what each would lose and risk.

    `options` are those of `anonymize`. To compare project files, use `keepsense.release.compare`.

    >>> import keepsense as ks
    >>> people = {"age": [31, 34, 38, 52, 55, 58] * 5}
    >>> ks.compare(people, ["optimal", "mondrian"], k=10, quasi_identifiers=["age"])
    <Comparison: 2 of 2 can be released>
    """
    trials = []
    for method in [methods] if isinstance(methods, str) else methods:
        start = time.perf_counter()
        wished: Options = {**options, "method": method}
        try:
            description, problem = anonymize(data, **wished).description, ""
        except Infeasible as error:
            description, problem = None, str(error)
        trials.append(Trial(method, problem, time.perf_counter() - start, description))
    return Comparison(tuple(trials))


def guide(
    data: object | None = None,
    *,
    purpose: Purpose = "general",
    promise: str = "k-anonymity",
    truthful: bool = True,
    k: int = 5,
    limit: int = 3,
    engine: str | Engine | None = None,
) -> Guidance:
    """Which methods fit a table and why, best first; without a table, which fit in general.

    >>> import keepsense as ks
    >>> ks.guide({"age": [31, 34, 38, 52] * 9}, purpose="general").advice[0].name
    'local recoding'
    """
    from keepsense.guide.advice import advise
    from keepsense.guide.answers import Answers, from_project

    if data is None:
        return advise(Answers(purpose=purpose, promise=promise, truthful=truthful, k=k), limit)
    from keepsense.draft.project_draft import Wishes, draft_from_arguments
    from keepsense.engines.protocol import at_home

    project, inspection, _ = draft_from_arguments(data, Wishes(), engine=engine or at_home(data))
    answers = from_project(project, inspection.rows)
    return advise(replace(answers, purpose=purpose, promise=promise, truthful=truthful, k=k, privacy=()), limit)


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _made(
    data: object,
    project: Project,
    inspection: Inspection,
    given: Given,
    how: Mapping[str, Any],
    reuse: Path | None = None,
) -> Release[Any]:
    """Release a table into a private folder that lives as long as the result does."""
    from keepsense.release.run import run as make

    home = mkdtemp(prefix="keepsense-")  # only its owner may look into it
    in_memory = not isinstance(data, str | PathLike)
    try:
        outcome = make(
            project, data=data if in_memory else None, given=given, folder=Path.cwd(), into=home, reuse=reuse, **how
        )
    except BaseException:
        rmtree(home, ignore_errors=True)
        raise

    def again(later: object, recoding: Path) -> Release[Any]:
        return _made(later, project, inspection, given, how, recoding)

    release: Release[Any] = Release(outcome, inspection, data if in_memory else None, again)
    weakref.finalize(release, rmtree, home, ignore_errors=True)
    return release
