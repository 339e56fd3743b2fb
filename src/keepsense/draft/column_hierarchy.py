"""The hierarchy of a column, before there is a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from keepsense.draft.inspection import looked_at, placed
from keepsense.draft.taxonomy_choice import Library
from keepsense.engines.protocol import Engine, started
from keepsense.errors import Finding
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column

if TYPE_CHECKING:
    from keepsense.taxonomy.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Built:
    """A hierarchy built for a column, how it was guessed what its values are, what to look at, whose its concepts are.

    >>> Built(Hierarchy.of_rows([("nurse", "*")]), "no taxonomy fits").findings
    ()
    """

    hierarchy: Hierarchy
    why: str = ""
    findings: tuple[Finding, ...] = ()
    taxonomy: Taxonomy | None = None


def hierarchy_for_column(source: str | Path, column: str, **said: Unpack[Said]) -> Hierarchy:
    """Build the hierarchy that a project with `hierarchy = "auto"` would use for a column of a table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("age\\n" + "\\n".join(map(str, range(20, 40))))
    ...     hierarchy_for_column(Path(folder) / "people.csv", "age").kind
    'numeric'
    """
    return built_for_column(source, column, **said).hierarchy


class Said(TypedDict, total=False):
    """What somebody says about a column, as in a project file; what is not said is guessed, as in a draft."""

    kind: str | None
    taxonomy: str | None
    domain: str | None
    mapping: str | Path | None
    order: Sequence[str] | None
    within: Sequence[str] | None
    distance: str
    engine: str | Engine | None


def built_for_column(source: str | Path, column: str, **said: Unpack[Said]) -> Built:
    """The same, with how it was guessed what the values are and what to look at.

    Without a taxonomy the one of the library that fits is taken; where none does, values stay themselves.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("work\\n" + "\\n".join(["Private", "Self-emp"] * 4))
    ...     built_for_column(Path(folder) / "people.csv", "work").hierarchy.rows()[0][1:]
    ('*',)
    """
    order, taxonomy, mapping = said.get("order"), said.get("taxonomy"), said.get("mapping")
    with started(said.get("engine")) as running:
        table = running.read(str(source))
        within = said.get("within") or ()
        table.require([column, *within])
        seen = looked_at(running.profiles(table, columns=[column])[0])
        if not within:
            seen = placed(seen, Library(), running, table)
        rows = running.count(table, [column]).rows_of(column)
        chosen = KINDS.name_of(said.get("kind") or ("ordinal" if order else seen.kind))
        meaning = seen.meaning if taxonomy is None and chosen == seen.kind else None
        domain = None if meaning is None else meaning.domain or list(meaning.domains) or None
        about = {
            "kind": chosen,
            "taxonomy": None if KINDS[chosen].sets else taxonomy if meaning is None else meaning.taxonomy,
            "domain": said.get("domain") or domain,
            "within": list(within or (meaning.within if meaning is not None else ())),
            "mapping": None if mapping is None else str(mapping),
            "order": order if order is not None or chosen != seen.kind else seen.order,
            "distance": said.get("distance", "wu-palmer"),
        }
        words = Meaning({column: Column.model_validate(about)}, count=partial(running.count, table))
        why = "; ".join(seen.notes) if meaning is None else f"{meaning.taxonomy} {meaning.reason}"
        findings = words.findings(column, rows)
        hierarchy = words.hierarchy(column, rows)
    known = words.taxonomy(column) if hierarchy.concepts is not None else None
    return Built(hierarchy, why if said.get("kind") is None else "", tuple(findings), known)
