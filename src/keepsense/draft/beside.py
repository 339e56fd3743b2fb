"""Hierarchy files that lie beside a table, as ARX and others leave them: found by name, proposed where they fit."""

from __future__ import annotations

import re
from pathlib import Path

from keepsense.errors import KeepsenseError
from keepsense.hierarchies import read_hierarchy
from keepsense.project.inspection.inspect import Inspection
from keepsense.project.inspection.inspected import Inspected
from keepsense.project.roles import ROLES

_ENDINGS = (".csv", ".json", ".xml")
_SAYS = re.compile(r"hierarch|hier(?![a-z])|levels?(?![a-z])|generali[sz]", re.IGNORECASE)
_MOST_FILES = 200


def hierarchies_beside(table: Path, inspection: Inspection) -> dict[str, Path]:
    """Files in a table's folder that hold a hierarchy of one of its columns: named after it, and with all its values.

    >>> import tempfile
    >>> from keepsense.project.inspection.inspect import inspect
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
