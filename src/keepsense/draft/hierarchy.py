"""The hierarchy of a column of a table, before there is a project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keepsense.engines import Engine, started
from keepsense.hierarchies import Hierarchy
from keepsense.hierarchies.kinds import KINDS
from keepsense.project.file import Column
from keepsense.project.meaning import Meaning


def hierarchy_for_column(  # noqa: PLR0913
    source: str | Path,
    column: str,
    *,
    kind: str | None = None,
    taxonomy: str | None = "wordnet",
    domain: str | None = None,
    mapping: str | Path | None = None,
    order: Sequence[str] | None = None,
    distance: str = "wu-palmer",
    engine: str | Engine | None = None,
) -> Hierarchy:
    """Build the hierarchy that a project with `hierarchy = "auto"` would use for a column of a table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("age\\n" + "\\n".join(map(str, range(20, 40))))
    ...     hierarchy_for_column(Path(folder) / "people.csv", "age").kind
    'numeric'
    """
    from keepsense.project.inspect import kind_of

    with started(engine) as running:
        table = running.read(str(source))
        table.require([column])
        chosen = KINDS.name_of(kind or ("ordinal" if order else kind_of(running.profiles(table, columns=[column])[0])))
        rows = running.count(table, [column]).rows_of(column)
    about = {
        "kind": chosen,
        "taxonomy": None if KINDS[chosen].sets else taxonomy,
        "domain": domain,
        "mapping": None if mapping is None else str(mapping),
        "order": order,
        "distance": distance,
    }
    return Meaning({column: Column.model_validate(about)}).hierarchy(column, rows)
