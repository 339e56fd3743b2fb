"""Drafts of projects: for a file, and for a table with arguments in Python.

`prepared` drafts the project of a file, with hierarchy files in its folder; `keepsense init` and the studio start from
it. `draft_for_file` drafts the project of a table that has no project file. `draft_from_arguments` builds a project
from a table and arguments in Python, and guesses what they leave out as a draft does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from keepsense.draft.arx_project import ENDING, read_arx_project
from keepsense.draft.inspected_column import Inspected
from keepsense.draft.inspection import Inspection, inspect
from keepsense.draft.project_text import FILE, draft, source_keys
from keepsense.engines.protocol import Engine, Reading
from keepsense.errors import BadInput, KeepsenseError, did_you_mean
from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.dp_promises import differentially_private
from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.project.column_meaning import Given
from keepsense.project.project_file import Project, check_project
from keepsense.project.roles import ROLES
from keepsense.taxonomy.taxonomy import Taxonomy

# A table without a project file


def draft_for_file(
    file: Path, *, target: str | None = None, sensitive: str | None = None, engine: str | None = None
) -> Project:
    """The draft of a project for a file, with the columns that are to be predicted and protected as given here.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> project = draft_for_file(job.folder / "people.csv", target="illness")
    >>> project.quasi_identifiers, project.having("target")
    (('age', 'job', 'likes'), ('illness',))
    """
    data = tomllib.loads(draft(inspect(str(file), engine=engine), source={"path": file.name}))
    columns: dict[str, dict[str, Any]] = data["columns"]
    for role, name in (("target", target), ("sensitive", sensitive)):
        if name is None:
            continue
        if name not in columns:
            raise BadInput(f"{file.name}: there is no column {name!r}.{did_you_mean(name, list(columns))}")
        columns[name]["role"] = role
        if columns[name].pop("width", None) is not None:
            columns[name]["accept"] = "identifying"
    return check_project(data, file.name)


# Hierarchy files next to a table, as ARX and others write them

_ENDINGS = (".csv", ".json", ".xml")
_SAYS = re.compile(r"hierarch|hier(?![a-z])|levels?(?![a-z])|generali[sz]", re.IGNORECASE)
_MOST_FILES = 200


def hierarchies_beside(table: Path, inspection: Inspection) -> dict[str, Path]:
    """Files in a table's folder that hold a hierarchy of one of its columns: named after it, and with all its values.

    >>> import tempfile
    >>> from keepsense.draft.inspection import inspect
    >>> with tempfile.TemporaryDirectory() as name:
    ...     table = Path(name) / "people.csv"
    ...     _ = table.write_text("job,age\\n" + "nurse,31\\nclerk,40\\n" * 9)
    ...     _ = (Path(name) / "people_hierarchy_job.csv").write_text("nurse;medic;*\\nclerk;office;*\\n")
    ...     {column: file.name for column, file in hierarchies_beside(table, inspect(table)).items()}
    {'job': 'people_hierarchy_job.csv'}
    """
    if not table.is_file():
        return {}
    files = [f for f in sorted(table.parent.iterdir()) if f.suffix.lower() in _ENDINGS and _SAYS.search(f.stem)]
    found: dict[str, Path] = {}
    for column in inspection.columns:
        if column.role != "quasi-identifier" or not ROLES[column.role].described:
            continue
        named = [file for file in files[:_MOST_FILES] if _after(file, table, column.name)]
        fitting = next((file for file in named if _holds(file, column)), None)
        if fitting is not None:
            found[column.name] = fitting
    return found


def _after(file: Path, table: Path, column: str) -> bool:
    """Whether a file is called after a column: nothing but that, the table's name and the word for hierarchies."""
    rest = _SAYS.sub(" ", file.stem.lower().replace(table.stem.lower(), " "))
    return _plain(re.sub(r"(?<![a-z])(y|ies|ation|ations)(?![a-z])", " ", rest)) == _plain(column.lower())


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text)


def _holds(file: Path, column: Inspected) -> bool:
    """Whether a hierarchy can be read and knows every value of the column that was looked at."""
    try:
        leaves = {str(leaf).strip() for leaf in read_hierarchy(file).leaves}
    except (KeepsenseError, OSError):
        return False
    return all(str(value).strip() in leaves for value in column.profile.values)


# A file, with hierarchy files of its folder


@dataclass(frozen=True, eq=False)
class Prepared:
    """A draft as text, the inspection it rests on, hierarchy files that it uses, and what could not be taken over.

    `arx` says that it was made from a project of ARX, of which `left_out` tells what was not taken over.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> people = job.folder / "people.csv"
    >>> prepared(str(people), people.with_name("keepsense.toml")).inspection.rows
    20
    """

    text: str
    inspection: Inspection
    hierarchies: Mapping[str, str]
    left_out: tuple[str, ...] = ()
    arx: bool = False


def prepared(
    file: str,
    output: Path,
    reading: Reading | None = None,
    *,
    k: int = 5,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    language: str | None = None,
    engine: str | None = None,
    force: bool = False,
) -> Prepared:
    """Inspect a table, or unpack a project of ARX beside `output`, and draft a project file to be written there.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> people = job.folder / "people.csv"
    >>> prepared(str(people), people.with_name("mine.toml")).text.count('folder = "release-mine"')
    1
    """
    how = reading or Reading()
    arx = read_arx_project(file) if file.lower().endswith(ENDING) else None
    moved: dict[str, Path] = {}
    if arx is not None:
        table, moved = arx.unpack(output.parent / Path(file).stem, force=force)
        how = replace(how, delimiter=how.delimiter or arx.delimiter, encoding=how.encoding or "utf-8")
        file = str(table)
    inspection = inspect(file, how, taxonomies=taxonomies, language=language, engine=engine)
    inspection = inspection if arx is None else arx.told(inspection)
    files = moved or hierarchies_beside(Path(file), inspection)
    own = {name: source_keys(str(path), how, output.parent)["path"] for name, path in files.items()}
    text = draft(
        inspection,
        source=source_keys(file, how, output.parent),
        k=k,
        folder="release" if output.name == FILE else f"release-{output.stem}",
        hierarchies=own,
        promises=() if arx is None else arx.promises,
        suppression=0.05 if arx is None else arx.suppression,
    )
    return Prepared(text, inspection, own, () if arx is None else arx.left_out, arx is not None)


# A table and arguments in Python

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

    >>> from keepsense.privacy.l_diversity import LDiversity
    >>> models_of({"illness": LDiversity(2), "pay": None}, ())
    (DistinctDiversity(l=2, column='illness', missing='value', beside=()),)
    """
    models: list[Model] = []
    if isinstance(sensitive, Mapping):
        for name, wanted in sensitive.items():
            several = wanted if isinstance(wanted, Sequence) else [] if wanted is None else [wanted]
            models += [model.on(name) for model in several]
    return (*models, *further)


def draft_from_arguments(
    data: object, wishes: Wishes, *, engine: str | Engine | None = None
) -> tuple[Project, Inspection, Given]:
    """The project for a table, the inspection it rests on, and what goes along in memory.

    Under differential privacy nothing is guessed: a column of which nothing is said is left out.

    >>> people = {"job": ["nurse", "clerk"] * 9, "id": list(range(18))}
    >>> project, inspection, given = draft_from_arguments(people, Wishes({"job": {"weight": 2.0}}))
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
        if not {"width", "level"}.isdisjoint(said) and "accept" not in said:
            keys["columns"][name].pop("accept", None)  # the bands may still point at people
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
