"""`keepsense map`: what the words of a column mean."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands import COMMANDS
from keepsense.commands._output import Json, Quiet, show, table
from keepsense.commands._reading import EngineName, TaxonomyName
from keepsense.errors import BadInput
from keepsense.taxonomy import library

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.taxonomy import Mapping


def map_column(
    file: Annotated[Path, typer.Argument(help="Table: CSV, Parquet, Excel, JSON lines, Arrow or SQLite.")],
    column: Annotated[str, typer.Argument(help="Column that holds words.")],
    taxonomy: TaxonomyName = library.WORDNET,
    senses: Annotated[
        str, typer.Option(help="How to choose among a word's senses: first, lesk (by the other words) or joint.")
    ] = "first",
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Only concepts below this one, such as person; can be given more than once."),
    ] = None,
    use: Annotated[
        Path | None, typer.Option(help="Mapping file, written by --output and edited by you; it wins over all rules.")
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="What separates the words of a cell that holds several, such as ';'.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write the mapping to this file, to look at and to edit.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most lines to show of each table.")] = 12,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Map the words of a column onto concepts, and list what is not mapped or has several senses."""
    from keepsense.taxonomy import Mapping, map_values

    chosen = library.find(taxonomy)
    counts = _counted(file, column, separator, engine)
    rules = Mapping.read(use, chosen) if use is not None else None
    mapping = map_values(counts, chosen, table=rules, senses=senses, domain=domain or None, column=column)
    if output is not None:
        mapping.save(output)
    result = _result(file, mapping)

    def render(console: Console) -> None:
        from rich.markup import escape

        share = mapping.coverage
        mapped = result["mapped"]
        console.print(
            f"[bold]{escape(column)}[/]: {len(mapped):,} of {len(mapping):,} values mapped onto {escape(chosen.name)}, "
            f"{share.rows:.1%} of rows"
        )
        rows = [(e["value"], e["rows"], e["how"], e["label"], e["meaning"]) for e in mapped[:limit]]
        console.print(table("Mapped", ("value", "rows", "how", "sense", "meaning"), rows, _more(mapped, limit)))
        if mapping.unmapped:
            missing = result["unmapped"]
            near = [(e["value"], e["rows"], ", ".join(e["suggestions"])) for e in missing[:limit]]
            console.print(table("Not mapped", ("value", "rows", "did you mean"), near, _more(missing, limit)))
        for finding in mapping.findings():
            console.print(str(finding), markup=False)
        if output is not None:
            console.print(f"written to {output}; edit it and give it back with --use {output}", markup=False)

    show(result, render, as_json=as_json, quiet=quiet)
    if any(finding.is_error for finding in mapping.findings()):
        raise typer.Exit(1)


def _counted(file: Path, column: str, separator: str | None, engine: str | None) -> dict[Any, int]:
    """Rows that hold each value, most frequent first; with a separator, each value of a cell counts."""
    from keepsense.engines import started

    with started(engine) as rows:
        source = rows.read(str(file))
        source.require([column])
        counts = rows.count(source, [column])
    words: Counter[Any] = Counter()
    for cell, weight in counts.rows_of(column).items():
        for part in [cell] if separator is None or cell is None else str(cell).split(separator):
            words[part.strip() if isinstance(part, str) else part] += weight
    if not any(words):
        raise BadInput(f"{file.name}: column {column!r} holds no values")
    return dict(words.most_common())


def _result(file: Path, mapping: Mapping) -> dict[str, Any]:
    from keepsense.taxonomy import explain

    suggested = mapping.suggestions()
    mapped: list[dict[str, Any]] = []
    unmapped: list[dict[str, Any]] = []
    for i, (value, code) in enumerate(zip(mapping.values, mapping.codes.tolist(), strict=True)):
        entry = {"value": value, "rows": int(mapping.rows[i])}
        if code < 0:
            unmapped.append({**entry, "suggestions": suggested.get(value, [])})
            continue
        named = {"id": mapping.taxonomy.id(code), "label": mapping.labels[i]}
        mapped.append({**entry, "how": mapping.how[i], **named, "meaning": explain(mapping.taxonomy, code)})
    return {
        "file": str(file),
        "column": mapping.column,
        "taxonomy": mapping.taxonomy.name,
        "values": len(mapping),
        "rows_mapped": mapping.coverage.rows,
        "mapped": mapped,
        "unmapped": unmapped,
        "findings": [{"code": f.code, "message": f.message} for f in mapping.findings()],
    }


def _more(entries: list[dict[str, Any]], limit: int) -> str | None:
    return f"and {len(entries) - limit:,} more" if len(entries) > limit else None


COMMANDS.add("map", map_column)
