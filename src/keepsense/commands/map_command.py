"""`keepsense map`: which concepts the words of a column mean."""

from __future__ import annotations

import shlex
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, FINDINGS, OUTPUTS
from keepsense.commands.options import EngineName, FittingTaxonomy, Language, Within
from keepsense.commands.terminal import Json, Quiet, show, table
from keepsense.errors import BadInput, Finding, InputWarning, KeepsenseError
from keepsense.taxonomy.formats import taxonomy_library

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.draft.taxonomy_choice import Areas
    from keepsense.taxonomy.value_mapping import Ambiguity, Mapping

_MOST_SENSES = 5
"""Other senses of a word that are shown; all are in the mapping file."""


def map_column(
    file: Annotated[Path, typer.Argument(help="Table: CSV, Parquet, Excel, JSON lines, Arrow or SQLite.")],
    column: Annotated[str, typer.Argument(help="Column that holds words.")],
    taxonomy: FittingTaxonomy = None,
    senses: Annotated[
        str,
        typer.Option(
            help="How to choose among a word's senses: context (frequency, the other words and the column's name; as "
            "projects do), first, lesk or joint."
        ),
    ] = "context",
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Only concepts below this one, such as person; can be given more than once."),
    ] = None,
    within: Within = None,
    language: Language = None,
    use: Annotated[
        Path | None, typer.Option(help="Mapping file, written by --output and edited by you; it wins over all rules.")
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="What separates the words of a cell that holds several, such as ';'.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Let phrases known by their last noun alone stand for that noun.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write the mapping to this file, to look at and to edit.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most lines to show of each table.")] = 12,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Map the words of a column onto concepts, and list what is not mapped or has several senses."""
    from keepsense.draft.taxonomy_choice import not_english
    from keepsense.project.column_meaning import check_language
    from keepsense.taxonomy.lookup import lookup
    from keepsense.taxonomy.mapper import map_values
    from keepsense.taxonomy.place_disambiguation import beside
    from keepsense.taxonomy.value_mapping import Mapping

    counts, areas = _counted(file, column, separator, within, engine, beside_it=taxonomy is None)
    why = ""
    if taxonomy is None:
        taxonomy, domain, areas, why = _fitting(counts, column, domain, areas, language)
    chosen = taxonomy_library.find(taxonomy, lambda: (value for value in counts if value is not None))

    def known(word: str) -> bool:
        match = lookup(chosen).find(word)
        return match is not None and match.how != "head"

    rules = Mapping.read(use, chosen) if use is not None else None
    mapping = map_values(
        counts,
        chosen,
        table=rules,
        senses=senses,
        domain=domain or None,
        column=column,
        within=None if areas is None else beside(areas.values, areas.cells, chosen),
        suggestions="accept" if accept else "ask",
    )
    check_language(column, language, chosen)
    english = chosen.info.get("language", "en").startswith("en")
    if not why and language is None and english and not_english(counts, known):
        warnings.warn(
            f"{column}: these words are not English, and {chosen.name} is; import a taxonomy in their language with "
            "`keepsense taxonomy import` and name it with --taxonomy",
            InputWarning,
            stacklevel=2,
        )
    if output is not None:
        mapping.save(output)
    options = _said(
        taxonomy=taxonomy,
        senses=senses if senses != "context" else None,
        domain=domain,
        within=within or (None if areas is None else list(areas.columns)),
        language=language,
        separator=separator,
        use=None if use is None else str(use),
    )
    settle = shlex.join(["keepsense", "map", str(file), column, *options, "--output", "mapping.csv"])
    findings = mapping.findings(options)
    result = _result(file, mapping, findings) | ({"guessed": why} if why else {})

    def render(console: Console) -> None:
        from rich.markup import escape

        share = mapping.coverage
        mapped = result["mapped"]
        console.print(
            f"[bold]{escape(column)}[/]: {len(mapped):,} of {len(mapping):,} values mapped onto {escape(chosen.name)}, "
            f"{share.rows:.1%} of rows"
        )
        if why:
            console.print(f"guessed: {why}", markup=False, soft_wrap=True)
        rows = [(e["value"], e["rows"], e["how"], e["label"], _sure(e), e["meaning"]) for e in mapped[:limit]]
        names = ("value", "rows", "how", "sense", "sure", "meaning")
        console.print(table("Mapped", names, rows, _more(mapped, limit)))
        _show_senses(console, result, settle, limit)
        if result["suggested"]:
            by_noun = [(e["value"], e["rows"], e["label"], e["meaning"]) for e in result["suggested"][:limit]]
            console.print(
                table(
                    "Known by the last noun alone: not used unless you accept it, all with --accept (in a project "
                    f'suggestions = "accept"), or one by one in the file that `{settle}` writes',
                    ("value", "rows", "its noun", "meaning"),
                    by_noun,
                    _more(result["suggested"], limit),
                )
            )
        if result["unmapped"]:
            missing = result["unmapped"]
            near = [(e["value"], e["rows"], ", ".join(e["suggestions"])) for e in missing[:limit]]
            title = f"Not mapped: say what they mean in the file that `{settle}` writes"
            console.print(table(title, ("value", "rows", "did you mean"), near, _more(missing, limit)))
        for finding in findings:
            console.print(str(finding), markup=False)
        if output is not None:
            console.print(
                f"written to {output}; edit it and give it back with --use {output}, or in a project with mapping = "
                f'"{output}"',
                markup=False,
                soft_wrap=True,
            )

    show(result, render, as_json=as_json, quiet=quiet)
    if any(finding.is_error for finding in findings):
        raise typer.Exit(1)


def _counted(
    file: Path, column: str, separator: str | None, within: list[str] | None, engine: str | None, *, beside_it: bool
) -> tuple[dict[Any, int], Areas | None]:
    """Rows that hold each value, most frequent first, and where these lie; with a separator, each value of a cell.

    Without columns that say where they lie, and `beside_it`, those that a draft would ask are asked.
    """
    from keepsense.draft.taxonomy_choice import areas_beside, areas_in
    from keepsense.engines.protocol import started

    with started(engine) as rows:
        source = rows.read(str(file))
        source.require([column, *(within or ())])
        counts = rows.count(source, [column])
        areas = areas_in(rows, source, column, tuple(within)) if within else None
        if not within and beside_it and separator is None:
            areas = areas_beside(rows, source, column, source.columns)
    words: Counter[Any] = Counter()
    for cell, weight in counts.rows_of(column).items():
        for part in [cell] if separator is None or cell is None else str(cell).split(separator):
            words[part.strip() if isinstance(part, str) else part] += weight
    if not any(words):
        raise BadInput(f"{file.name}: column {column!r} holds no values")
    return dict(words.most_common()), areas


def _fitting(
    counts: dict[Any, int], column: str, domain: list[str] | None, areas: Areas | None, language: str | None
) -> tuple[str, list[str] | None, Areas | None, str]:
    """The taxonomy that a draft would take, its domain unless one is given, the areas that it goes by, and why.

    Where none fits, or it has no such domain, WordNet is asked what it knows.
    """
    from keepsense.draft.taxonomy_choice import Library

    words = {value: rows for value, rows in counts.items() if value is not None}
    known = Library(language=language)
    for where in (areas, None) if areas is not None else (None,):
        matched = known.match(words, column, where)
        if matched.known is not None and _has(matched.known.taxonomy, domain or []):
            fit = matched.known
            below = [fit.domain] if fit.domain is not None else [*fit.domains] or None
            return fit.taxonomy, domain or below, where, f"{fit.taxonomy} {fit.reason}"
    return taxonomy_library.WORDNET, domain, None, matched.why_not


def _has(taxonomy: str, domain: list[str]) -> bool:
    """Whether a taxonomy has the concepts of a domain."""
    if not domain:
        return True
    try:
        known = taxonomy_library.find(taxonomy)
        return all(known.code(concept) >= 0 for concept in domain)
    except KeepsenseError:
        return False


def _result(file: Path, mapping: Mapping, findings: list[Finding]) -> dict[str, Any]:
    from keepsense.taxonomy.glosses import explain

    suggested = mapping.suggestions()
    mapped: list[dict[str, Any]] = []
    unmapped: list[dict[str, Any]] = []
    ambiguous, doubtful = _senses(mapping.ambiguous, mapping), _senses(mapping.doubtful, mapping)
    confidence = {e["value"]: e["confidence"] for e in (*ambiguous, *doubtful) if e["confidence"] is not None}
    undecided = {e["value"] for e in doubtful}
    by_noun: list[dict[str, Any]] = []
    nouns = mapping.suggested
    for i, (value, code) in enumerate(zip(mapping.values, mapping.codes.tolist(), strict=True)):
        if code < 0 and value in undecided:
            continue
        entry = {"value": value, "rows": int(mapping.rows[i])}
        if value in nouns:
            noun = int(mapping.candidates[i][0])
            by_noun.append({**entry, "label": nouns[value][1], "meaning": explain(mapping.taxonomy, noun)})
            continue
        if code < 0:
            unmapped.append({**entry, "suggestions": suggested.get(value, [])})
            continue
        named = {"id": mapping.taxonomy.id(code), "label": mapping.labels[i]}
        sure = {"confidence": confidence[value]} if value in confidence else {}
        mapped.append({**entry, "how": mapping.how[i], **named, "meaning": explain(mapping.taxonomy, code), **sure})
    return {
        "file": str(file),
        "column": mapping.column,
        "taxonomy": mapping.taxonomy.name,
        "values": len(mapping),
        "rows_mapped": mapping.coverage.rows,
        "mapped": mapped,
        "ambiguous": ambiguous,
        "doubtful": doubtful,
        "suggested": by_noun,
        "unmapped": unmapped,
        "findings": [{"code": f.code, "message": f.message} for f in findings],
    }


def _senses(words: Iterable[Ambiguity], mapping: Mapping) -> list[dict[str, Any]]:
    """Values with several senses, the least certain and then the most frequent first."""
    rows = dict(zip(mapping.values, mapping.rows.tolist(), strict=True))
    listed = [
        {
            "value": word.value,
            "rows": rows[word.value],
            "label": word.chosen[0],
            "meaning": word.chosen[1],
            "confidence": None if word.confidence is None else round(word.confidence, 4),
            "alternatives": [{"label": label, "meaning": meaning} for label, meaning in word.alternatives],
        }
        for word in words
    ]
    return sorted(listed, key=lambda e: (1.0 if e["confidence"] is None else e["confidence"], -e["rows"]))


def _show_senses(console: Console, result: dict[str, Any], settle: str, limit: int) -> None:
    """Words in doubt and the command that settles them, then words whose sense was chosen; each with its senses."""
    from keepsense.taxonomy.sense_disambiguation import DOUBT

    for title, entries in (
        (f"In doubt: say which is meant in the file that `{settle}` writes", result["doubtful"]),
        (f"Chosen among several senses, the least certain first; change one in `{settle}`", result["ambiguous"]),
    ):
        rows = []
        for e in entries[:limit]:
            chosen = [(e["value"], e["rows"], e["label"], _sure(e), e["meaning"])] if e["label"] else []
            others = [("", "", other["label"], "", other["meaning"]) for other in e["alternatives"][:_MOST_SENSES]]
            if not chosen:
                others[0] = (e["value"], e["rows"], others[0][2], f"below {DOUBT:.0%}", others[0][4])
            rows += [*chosen, *others]
        if rows:
            console.print(table(title, ("value", "rows", "sense", "sure", "meaning"), rows, _more(entries, limit)))


def _said(**options: str | list[str] | None) -> list[str]:
    """Options as they are typed; those that nobody gave are left out."""
    given = {f"--{name}": [value] if isinstance(value, str) else value or [] for name, value in options.items()}
    return [part for option, values in given.items() for value in values for part in (option, value)]


def _sure(entry: dict[str, Any]) -> str:
    confidence = entry.get("confidence")
    return "" if confidence is None else f"{confidence:.0%}"


def _more(entries: list[dict[str, Any]], limit: int) -> str | None:
    return f"and {len(entries) - limit:,} more" if len(entries) > limit else None


COMMANDS.add("map", map_column)
OUTPUTS.add(
    "map",
    {
        "file": ("the table", "text"),
        "column": ("the column", "text"),
        "taxonomy": ("the taxonomy", "text"),
        "guessed?": ("how the taxonomy was found without being told", "text"),
        "values": ("different values", "whole"),
        "rows_mapped": ("share of the rows whose word has a concept", "number"),
        "mapped": ("values and their concepts", [{"*": "any"}]),
        "ambiguous": ("values with several senses, of which one was chosen", [{"*": "any"}]),
        "doubtful": ("values with several senses, of which none is likely enough", [{"*": "any"}]),
        "suggested": ("values known by their last noun alone", [{"*": "any"}]),
        "unmapped": ("values in no taxonomy", [{"*": "any"}]),
        "findings": FINDINGS,
    },
)
