"""The project file: what to protect, how, and where the release goes, in one TOML file; its schema, and changes for a
run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from keepsense.engines.formats import table_formats
from keepsense.engines.protocol import ENGINES, NUMBER_FORMATS, USUAL, Cells, Reading
from keepsense.errors import BadInput, did_you_mean
from keepsense.files import parsed_toml
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.method import methods
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.project.roles import ROLES
from keepsense.registry import Registry


def _named(registry: Registry[Any]) -> BeforeValidator:
    """The name of an entry, however it is spelled; outdated names with a warning."""

    def name_of(value: Any) -> Any:
        try:
            return registry.name_of(value) if isinstance(value, str) else value
        except BadInput as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(name_of)


def _not_by_loss(value: Any) -> Any:
    if value == "loss":
        raise ValueError(
            "a run chooses no hierarchies by their loss any more; leave the key out, or compare hierarchy files with "
            "`keepsense hierarchy choose` and name the best as hierarchy"
        )
    return value


def _listing(registry: Registry[Any]) -> Callable[[dict[str, Any]], None]:
    """What tells editors the names of a registry, when they are asked for."""
    return lambda schema: schema.update(enum=list(registry))


class _Part(BaseModel):
    """A section of the project file; keys it does not know are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Part):
    """Where a table comes from; everything but the path is sniffed where it is not given.

    >>> Source(path="people.csv").delimiter is None
    True
    """

    path: str = Field(description="File, relative to the project file, or a postgresql:// address")
    format: str | None = Field(None, description=table_formats.names())
    delimiter: str | None = Field(None, description="Delimiter of a CSV file")
    quote: str | None = Field(None, description="Quote character of a CSV file")
    encoding: str | None = Field(None, description="Encoding of a text file")
    header: bool | None = Field(None, description="Whether the first row of a CSV file names the columns")
    table: str | None = Field(None, description="Table of a database, or sheet of a workbook")
    empty: list[str] = Field([], description="Cells that mean, in every column, that nothing is known, such as NA")
    sampling_fraction: float | None = Field(
        None, gt=0, le=1, description="Share of the population that the table is a random sample of, for its risks"
    )


class Column(_Part):
    """What one column is, what it means and how it may be generalized.

    >>> Column(role="quasi-identifier", kind="nominal", taxonomy="wordnet").missing
    'category'
    """

    role: Annotated[str, _named(ROLES)] = Field(
        "insensitive", description="What the column tells about people", json_schema_extra=_listing(ROLES)
    )
    kind: Annotated[str, _named(KINDS)] = Field(
        "nominal", description="What its values are", json_schema_extra=_listing(KINDS)
    )
    taxonomy: str | None = Field(None, description="wordnet, or a taxonomy file, that gives its words meaning")
    domain: str | list[str] | None = Field(
        None, description="Concept of the taxonomy, or several, below which all its values lie"
    )
    within: list[str] = Field(
        [], description="Other columns that name the region or country of its places, to tell those of one name apart"
    )
    mapping: str | None = Field(None, description="Mapping file that says which concept each value means")
    senses: Literal["context", "first", "lesk", "joint"] = Field("context", description="How senses are chosen")
    language: str | None = Field(None, description="Language of its words, such as es; its taxonomy must have it")
    suggestions: Literal["ask", "accept"] = Field(
        "ask", description="Whether a phrase known by its last noun alone (night nurse) stands for that noun"
    )
    distance: str = Field("wu-palmer", description="Semantic distance of its values")
    hierarchy: str | None = Field(None, description="Hierarchy file, or auto to build one")
    choose: Annotated[Literal["first", "gsl"], BeforeValidator(_not_by_loss)] = Field(
        "first", description="Which built hierarchy is taken: the first, or that of the lowest GSL"
    )
    weight: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False, description="How much its loss counts")] = (
        1.0
    )
    missing: Literal["category", "wildcard"] = Field("category", description="What an empty cell is")
    empty: list[str] = Field([], description="Cells that mean that nothing is known, such as ? or -9; released empty")
    format: str | None = Field(
        None,
        description="How its dates or numbers are written, where not as 2026-01-31 and 1234.56: a form such as "
        f"%d.%m.%Y, or one of {', '.join(NUMBER_FORMATS)}",
    )
    delimiter: str = Field(";", description="What separates the items of a set")
    order: list[str] | None = Field(None, description="Values of an ordinal column, lowest first")
    width: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = Field(
        None, description="Release its numbers in bands this wide; for a column that is no quasi-identifier"
    )
    level: Annotated[int, Field(ge=1, strict=True)] | None = Field(
        None, description="Release this level of its hierarchy; for a column that is no quasi-identifier"
    )
    accept: Literal["identifying"] | None = Field(
        None, description="Release it as it is, although it points at people by itself or tells hidden columns"
    )

    @model_validator(mode="after")
    def _coarse_in_one_way(self) -> Column:
        if not self.coarse:
            return self
        if self.width is not None and self.level is not None:
            raise ValueError("give the width of its bands or the level of its hierarchy, not both")
        if not ROLES[self.role].coarse:
            raise ValueError(
                f"width and level are for columns that are released as they are otherwise, not for the role {self.role}"
            )
        return self

    @property
    def coarse(self) -> bool:
        """Whether it is released less exact than it is without being a quasi-identifier.

        >>> Column(role="sensitive", kind="numeric", width=1000).coarse
        True
        """
        return self.width is not None or self.level is not None


class Method(_Part):
    """The method by name, and its parameters.

    >>> Method(name="optimal").parameters
    {}
    """

    name: str = Field("optimal", description="Name of the method; `keepsense guide` lists them")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Parameters of the method")


class Step(Method):
    """A method that changes some columns, or draws some rows, before `[method]` decides on the quasi-identifiers.

    >>> Step(name="top and bottom coding", columns=["age"], parameters={"top": 90}).columns
    ['age']
    """

    name: str = Field(description="Name of the method of this step")
    columns: list[str] = Field([], description="Columns that it changes; none for a step that draws rows")


class Target(_Part):
    """Where the release goes and how it is written.

    >>> Target().suppression
    0.0
    """

    folder: str = Field("release", description="Folder of the release, relative to the project file")
    file: str | None = Field(None, description="Name of the released file; that of the source by default")
    database: str | None = Field(None, description="postgresql:// address, to release a table of that database")
    table: str | None = Field(None, description="Name of the released table or sheet; `released` by default")
    suppression: Annotated[
        float, Field(ge=0, le=1, strict=True, description="Share of records that may be suppressed")
    ] = 0.0
    suppressed: Literal["auto", "keep", "drop"] = Field(
        "auto",
        description="Suppressed records: drop them, or keep them hidden where they keep the promises (auto, keep)",
    )
    shuffle: bool = Field(True, description="Release the rows in random order")
    spreadsheet_safe: bool = Field(True, description="Defuse text that a spreadsheet would run as a formula")
    delimiter: str | None = Field(
        None,
        pattern=r'^[^"\r\n]$',
        description="Delimiter of a released CSV file, one character, no quote; that of the source where not given",
    )


class EngineChoice(_Part):
    """The engine that holds the rows while a release is made, and what it may use of the machine.

    >>> EngineChoice(memory="4GB", threads=2).options()
    {'memory': '4GB', 'threads': 2}
    """

    name: str = Field(USUAL, description="Name of the engine")
    memory: str | None = Field(
        None, pattern=r"^\d+(\.\d+)?\s*(%|[KMGT]i?B)$", description="Most memory to use, such as 4GB or 40%"
    )
    threads: Annotated[int, Field(ge=1, strict=True)] | None = Field(None, description="Most threads to use")
    master: str | None = Field(None, description="Address of the cluster, such as spark://head:7077")
    staging: str | None = Field(None, description="Folder that the whole cluster reaches, for files on their way")
    patient: bool = Field(False, strict=True, description="Whether a method may take much longer than ten minutes")

    @model_validator(mode="after")
    def _fitting(self) -> EngineChoice:
        for key in ("master", "staging"):
            if getattr(self, key) is not None and self.name in ENGINES and key not in ENGINES[self.name].options:
                raise ValueError(f"the engine {self.name!r} has no {key}; leave it out, or name another engine")
        return self

    def options(self) -> dict[str, Any]:
        """What the engine is started with."""
        chosen: dict[str, Any] = {"memory": self.memory, "threads": self.threads}
        chosen |= {"master": self.master, "staging": self.staging}
        return {key: value for key, value in chosen.items() if value is not None}


def _by_name(given: Any) -> Any:
    return {"name": given} if isinstance(given, str) else given


class Project(_Part):
    """A whole project file.

    >>> project = Project.model_validate({
    ...     "source": {"path": "people.csv"},
    ...     "columns": {"job": {"role": "quasi-identifier", "taxonomy": "wordnet", "hierarchy": "auto"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 5}],
    ... })
    >>> project.quasi_identifiers
    ('job',)
    """

    source: Source | None = Field(None, description="The table to release, unless it is given in memory")
    population: Source | None = Field(None, description="Table of everybody, for k-map, presence and journalist risk")
    columns: dict[str, Column] = Field(default_factory=dict)
    privacy: list[dict[str, Any]] = Field(default_factory=list, description="Promises, all of which must hold")
    steps: list[Step] = Field(
        default_factory=list,
        description="What is done before [method] decides, one after the other; promises are checked at the end",
    )
    method: Method = Field(default_factory=lambda: Method.model_validate({}))
    set_method: Method = Field(
        default_factory=lambda: Method(name="set microaggregation"),
        description="What recodes set-valued quasi-identifiers beside others, inside the classes these form",
    )
    release: Target = Field(default_factory=lambda: Target.model_validate({}))
    engine: Annotated[EngineChoice, BeforeValidator(_by_name)] = Field(
        default_factory=lambda: EngineChoice.model_validate({}), description="Engine by its name, or a section about it"
    )
    unlisted: Literal["refuse", "keep", "drop"] = Field("refuse", description="What happens to columns not listed here")

    @model_validator(mode="after")
    def _consistent(self) -> Project:
        roles = [column.role for column in self.columns.values()]
        for name, role in ROLES.items():
            if role.single and roles.count(name) > 1:
                raise ValueError(f"only one column can have the role {name}")
        if self.population is not None and self.population.sampling_fraction is not None:
            raise ValueError("sampling_fraction says which share of the population the source is; put it into [source]")
        if not self.privacy:
            raise ValueError("no promise is given; add a [[privacy]] section, for instance k-anonymity with k = 5")
        for promise in self.privacy:
            if "model" not in promise:
                raise ValueError('every [[privacy]] section needs a model, for instance model = "k-anonymity"')
        return self

    def reading(self, place: Source | None) -> Reading:
        """How a table of this project is to be read: as its section says, cells as the columns say.

        >>> promise = {"model": "k-anonymity", "k": 2}
        >>> born = {"empty": ["?"], "format": "%d.%m.%Y"}
        >>> project = Project.model_validate({"columns": {"born": born}, "privacy": [promise]})
        >>> project.reading(None).cells["born"]
        Cells(empty=('?',), format='%d.%m.%Y')
        """
        forms = {name: None if name in self.as_text else column.format for name, column in self.columns.items()}
        cells = {
            name: Cells(tuple(column.empty), forms[name])
            for name, column in self.columns.items()
            if column.empty or forms[name] is not None
        }
        if place is None:
            return Reading(cells=cells)
        how = place.model_dump(exclude={"path", "empty", "sampling_fraction"})
        return Reading(**how, empty=tuple(place.empty), cells=cells)

    @property
    def as_text(self) -> frozenset[str]:
        """Columns of numbers that are released as they are, and of which nothing asks for the numbers: cell by cell.

        >>> pay = {"role": "insensitive", "kind": "numeric", "format": "1.234,56"}
        >>> promise = {"model": "k-anonymity", "k": 2}
        >>> sorted(Project.model_validate({"columns": {"pay": pay}, "privacy": [promise]}).as_text)
        ['pay']
        """
        asked = {str(promise.get(key)) for promise in self.privacy for key in ("column", "person")}
        asked |= {str(name) for promise in self.privacy for name in promise.get("beside") or ()}
        asked |= {name for step in self.steps for name in step.columns}
        return frozenset(
            name
            for name, column in self.columns.items()
            if column.format in NUMBER_FORMATS
            and column.role in ("sensitive", "insensitive")
            and not column.coarse
            and name not in asked
        )

    def having(self, *roles: str) -> tuple[str, ...]:
        """Columns with one of the roles, in order."""
        return tuple(name for name, column in self.columns.items() if column.role in roles)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns by which people could be recognized."""
        return self.having("quasi-identifier")


def project_and_folder(project: Project | str | Path, folder: str | Path | None = None) -> tuple[Project, Path]:
    """A project, read where its path is given, and the folder at which its relative paths start.

    >>> project_and_folder(Project(privacy=[{"model": "k-anonymity", "k": 2}]), "projects")[1].as_posix()
    'projects'
    """
    if isinstance(project, Project):
        return project, Path(folder or ".")
    return read_project(project), Path(project).parent if folder is None else Path(folder)


def read_project(path: str | Path) -> Project:
    """Read and check a project file; every complaint names the key and, where one is near, the valid one.

    >>> read_project("/nowhere/keepsense.toml")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: keepsense.toml: there is no such project file; write one with `keepsense init`
    """
    return check_project(read_document(path), Path(path).name)


def read_document(path: str | Path) -> dict[str, Any]:
    """The keys of a project file as they stand there, not checked yet.

    >>> read_document("/nowhere/keepsense.toml")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: keepsense.toml: there is no such project file; write one with `keepsense init`
    """
    file = Path(path)
    if not file.is_file():
        raise BadInput(f"{file.name}: there is no such project file; write one with `keepsense init`")
    try:
        return parsed_toml(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BadInput(f"{file.name}: the project file is not UTF-8 text") from None
    except ValueError as error:
        raise BadInput(f"{file.name}: the project file is not valid TOML: {error}") from None


def check_project(data: dict[str, Any], name: str = "project") -> Project:
    """A project from plain data.

    >>> check_project({"sorce": {"path": "x.csv"}})
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: project: unknown key 'sorce'. Did you mean source?
    """
    try:
        return Project.model_validate(data)
    except ValidationError as error:
        mistakes = error.errors()
        # A misspelt section is missing under its right name too: the misspelling is what to mend.
        strange = [e for e in mistakes if e["type"] == "extra_forbidden"] or mistakes
        raise BadInput(f"{name}: {'; '.join(_complaint(e) for e in strange[:5])}") from None


def _complaint(error: Any) -> str:
    where = [str(key) for key in error["loc"]]
    if error["type"] == "extra_forbidden":
        valid = _keys(where[:-1])
        inside = f" in [{'.'.join(where[:-1])}]" if len(where) > 1 else ""
        return f"unknown key {where[-1]!r}{inside}.{did_you_mean(where[-1], valid)}"
    if error["type"] == "missing":
        return f"the key {'.'.join(where)} is missing"
    if error["type"] == "literal_error":
        expected = [part.strip(" '") for part in error["ctx"]["expected"].replace(" or ", ", ").split(",")]
        value = str(error["input"])
        return f"{'.'.join(where)} is {value!r}, but must be {', '.join(expected)}.{did_you_mean(value, expected)}"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{'.'.join(where)}: {message}" if where else message


def _keys(path: list[str]) -> list[str]:
    """Valid keys of a section."""
    sections: dict[str, type[BaseModel]] = {
        "source": Source,
        "population": Source,
        "columns": Column,
        "steps": Step,
        "method": Method,
        "set_method": Method,
        "release": Target,
        "engine": EngineChoice,
    }
    return list((sections.get(path[0], Project) if path else Project).model_fields)


# The JSON schema, for editors


def json_schema() -> dict[str, Any]:
    """JSON schema of the project file; editors complete its keys, the names of methods and those of promises.

    >>> schema = json_schema()
    >>> schema["title"], "optimal" in schema["$defs"]["Method"]["properties"]["name"]["anyOf"][0]["enum"]
    ('Project', True)
    """
    schema = Project.model_json_schema()
    name = schema["$defs"]["Method"]["properties"]["name"]
    # any spelling of a name is taken (rank-swapping, rank swapping), so the list only proposes
    name["anyOf"] = [{"enum": sorted(method.name for method in methods(in_projects=True))}, {"type": "string"}]
    name.pop("type", None)
    step = schema["$defs"]["Step"]["properties"]["name"]
    step["anyOf"] = [{"enum": sorted(method.name for method in methods() if method.as_step)}, {"type": "string"}]
    step.pop("type", None)
    schema["properties"]["privacy"]["items"] = {"anyOf": [model.schema() for model in PRIVACY.values()]}
    engine = schema["properties"]["engine"]
    engine["anyOf"] = [{"enum": list(ENGINES)}, {"$ref": engine.pop("$ref")}]
    return schema


# Changes for one run: another source, another place, any key


def adjusted_project(
    path: str | Path,
    *,
    source: str | Path | None = None,
    output: str | PathLike[str] | None = None,
    settings: Iterable[str] | Mapping[str, Any] = (),
) -> Project:
    """A project file with another source, another place for the release, and some keys set; checked as ever.

    `source` and `output` are paths as one types them, from where one is; the output is a folder, or a file where its
    name has an ending. `settings` are `key=value` as in TOML (`release.suppression=0.02`, `privacy.0.k=10`), where text
    needs no quotes, or a dictionary.

    >>> adjusted_project("/nowhere/keepsense.toml", settings=["method.name=datafly"])
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: keepsense.toml: there is no such project file; write one with `keepsense init`
    """
    document = read_document(path)
    if source is not None:
        _put(document, ["source", "path"], _from_here(str(source)))
    if output is not None:
        target = Path(output)
        folder = target.is_dir() or not target.suffix or str(output).endswith(("/", "\\"))
        _put(document, ["release", "folder"], str((target if folder else target.parent).absolute()))
        if not folder:
            _put(document, ["release", "file"], target.name)
    pairs = settings.items() if isinstance(settings, Mapping) else map(_pair, settings)
    for key, value in pairs:
        _put(document, _parts(key), value)
    return check_project(document, Path(path).name)


def _from_here(path: str) -> str:
    return path if "://" in path else str(Path(path).absolute())


def _pair(setting: str) -> tuple[str, Any]:
    """The key and the value of one setting; what is no value of TOML is text."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"{setting!r} sets nothing; write key=value, for instance release.suppression=0.02")
    try:
        return key.strip(), parsed_toml(f"value = {text.strip()}")["value"]
    except ValueError:
        return key.strip(), text.strip()


def _parts(key: str) -> list[str]:
    """A dotted key divided as TOML divides it, quotes and all."""
    try:
        inner: Any = parsed_toml(f"{key} = 0")
    except ValueError:
        raise BadInput(
            f"{key!r} is no key of a project file; write it as TOML does, for instance method.name"
        ) from None
    parts = []
    while isinstance(inner, dict):
        [(part, inner)] = inner.items()
        parts.append(part)
    return parts


def _put(document: dict[str, Any], parts: list[str], value: Any) -> None:
    """Set one key; a number is a place in a list, and sections that are missing are made."""
    inner: Any = document
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        where: Any = part
        if isinstance(inner, list):
            if not part.isdigit() or int(part) >= len(inner):
                raise BadInput(
                    f"{'.'.join(parts)}: the list has {len(inner)} entries, counted from 0; {part!r} is none"
                )
            where = int(part)
        elif not isinstance(inner, dict):
            raise BadInput(f"{'.'.join(parts)}: {part!r} lies below a key that is no section")
        if following is None:
            inner[where] = value
        else:
            inner = inner[where] if isinstance(inner, list) else inner.setdefault(where, {})
