"""`keepsense taxonomy`: list, show, search and import taxonomies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands import options as _complete
from keepsense.commands.command_registry import COMMANDS, CONCEPT, OUTPUTS
from keepsense.commands.options import NamesInHelp, TaxonomyName
from keepsense.commands.terminal import Json, Quiet, show, table
from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats import taxonomy_library

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.taxonomy.taxonomy import Taxonomy

taxonomy = typer.Typer(help="List, show, search and import taxonomies.", no_args_is_help=True)


@taxonomy.command("list")
def list_taxonomies(as_json: Json = False, quiet: Quiet = False) -> None:
    """List the taxonomies that are there: the embedded ones and those you imported."""
    entries = [_about(name, taxonomy_library.find(name)) for name in taxonomy_library.names()]
    heads = ("name", "what it knows", "concepts", "depth", "MB", "licence")
    rows = [
        (e["name"], e["knows"], e["concepts"], e["depth"], f"{e['bytes'] / 1e6:.1f}", e["licence"]) for e in entries
    ]
    show(
        {"taxonomies": entries},
        lambda console: console.print(table("Taxonomies", heads, rows)),
        as_json=as_json,
        quiet=quiet,
    )


@taxonomy.command("show")
def show_concept(
    concept: Annotated[
        str | None, typer.Argument(help="Name, name and sense (coach#1) or id; leave out for the taxonomy itself.")
    ] = None,
    taxonomy: TaxonomyName = taxonomy_library.WORDNET,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a concept and what is around it, or the taxonomy as a whole."""
    chosen = taxonomy_library.find(taxonomy)
    if concept is None:
        result = _about(taxonomy, chosen)
        rows: list[tuple[str, Any]] = [(key, value) for key, value in result.items() if not isinstance(value, list)]
        rows.append(("relations", ", ".join(result["relations"]) or "is-a only"))
    else:
        result = _concept(chosen, concept)
        rows = [(key, _joined(key, value) if isinstance(value, list) else value) for key, value in result.items()]

    def render(console: Console) -> None:
        from rich import box
        from rich.markup import escape
        from rich.table import Table

        drawn = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
        for key, value in rows:
            drawn.add_row(f"[cyan]{key}[/]", escape(f"{value:,}" if isinstance(value, int) else str(value)))
        console.print(drawn)

    show(result, render, as_json=as_json, quiet=quiet)


@taxonomy.command("search")
def search(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    taxonomy: TaxonomyName = taxonomy_library.WORDNET,
    limit: Annotated[int, typer.Option(min=1, help="Most concepts to show.")] = 20,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find concepts by a name or a part of one; where none matches, the ones spelled most alike."""
    chosen = taxonomy_library.find(taxonomy)
    found = [_named(chosen, code, text) for code in _search(chosen, text, limit)]
    rows = [(entry["id"], entry["name"], entry["meaning"]) for entry in found]
    show(
        {"taxonomy": taxonomy, "found": found},
        lambda console: console.print(table(f"{text!r} in {taxonomy}", ("id", "name", "meaning"), rows)),
        as_json=as_json,
        quiet=quiet,
    )


@taxonomy.command("import", cls=NamesInHelp)
def import_taxonomy(
    source: Annotated[
        str,
        typer.Argument(help="File or folder in one of the formats below, or {sources}."),
    ],
    name: Annotated[str | None, typer.Option(help="Name to keep it under; else the file's name.")] = None,
    format: Annotated[
        str | None,
        typer.Option(help="Where it cannot be told from the file: {loaders}.", autocompletion=_complete.loaders),
    ] = None,
    join_roots: Annotated[bool, typer.Option("--join-roots", help="Put one root above several.")] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="What the format can be told, as key=value: language=de, closed=no, scheme=naics, columns=0,2; can be "
            "given more than once. A wrong key lists those that there are."
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read a taxonomy from a file and keep it under a name, so that it opens at once the next time."""
    kept = taxonomy_library.check_name(
        name if name is not None else Path(source).name.split(".")[0].removeprefix("wn:")
    )
    options = _options(option or [])
    try:
        chosen = taxonomy_library.read(source, format, join_roots, options)
    except (BadInput, BadTaxonomy) as error:
        raise type(error)(_on_the_command_line(str(error))) from None
    target = taxonomy_library.folder() / f"{kept}{taxonomy_library.SUFFIX}"
    target.parent.mkdir(parents=True, exist_ok=True)
    chosen.save(target)
    result = _about(kept, chosen)
    show(
        result,
        lambda console: console.print(
            f"{kept}: {result['concepts']:,} concepts, {result['links']:,} is-a links; use it with --taxonomy {kept}",
            markup=False,
        ),
        as_json=as_json,
        quiet=quiet,
    )


def _options(pairs: list[str]) -> dict[str, str]:
    options = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise BadInput(f"--option {pair!r} is not key=value, such as language=de")
        options[key.strip().replace("-", "_")] = value
    return options


_IN_PYTHON = re.compile(r"\b([a-z_]+)=(?:'([^']*)'|(True|False|None)\b|\(([\d, ]+)\))?")


def _on_the_command_line(message: str) -> str:
    """A message of a loader, with options as they are typed in place of arguments in Python.

    >>> _on_the_command_line("allow it with closed=False, or put one above with join_roots=True; name it with format=")
    'allow it with --option closed=no, or put one above with --join-roots; name it with --format'
    """
    words = {"True": "yes", "False": "no", "None": "none"}

    def typed(match: re.Match[str]) -> str:
        key, text, word, numbers = match.groups()
        if key in ("join_roots", "format", "name"):
            return f"--{key.replace('_', '-')}"
        return f"--option {key}={text or words.get(word or '', '') or (numbers or '').replace(' ', '')}"

    return _IN_PYTHON.sub(typed, message)


def _named(taxonomy: Taxonomy, code: int, text: str) -> dict[str, str]:
    from keepsense.taxonomy.glosses import explain
    from keepsense.taxonomy.lookup import sense_name

    return {"id": taxonomy.id(code), "name": sense_name(taxonomy, code, text), "meaning": explain(taxonomy, code)}


def _joined(key: str, values: list[str]) -> str:
    if key == "other senses":
        return "\n".join(values)
    return (" > " if key == "up to the root" else "; ").join(values)


def _about(name: str, taxonomy: Taxonomy) -> dict[str, Any]:
    return {
        "name": name,
        "title": taxonomy.name,
        "concepts": len(taxonomy),
        "links": len(taxonomy.parents.indices),
        "names": len(taxonomy.terms),
        "depth": taxonomy.max_depth,
        "leaves": len(taxonomy.leaves()),
        "root": taxonomy.label(taxonomy.root),
        "relations": sorted(taxonomy.relations),
        **taxonomy_library.facts(name, taxonomy),
    }


def _concept(taxonomy: Taxonomy, concept: str) -> dict[str, Any]:
    from keepsense.taxonomy.glosses import explain, gloss

    code = taxonomy.code(concept)
    first, *others = taxonomy.synonyms(code)
    chain = taxonomy.path(code, taxonomy.root)
    result: dict[str, Any] = {
        "name": first,
        "id": taxonomy.id(code),
        "also": others,
        **({"definition": text} if (text := gloss(taxonomy, code)) else {}),
        "a kind of": taxonomy.labels(taxonomy.parents[code].tolist()),
        "kinds": taxonomy.labels(taxonomy.children[code].tolist()),
        "up to the root": taxonomy.labels(chain),
        "depth": int(taxonomy.depth[code]),
        "concepts below": int(taxonomy.hyponym_counts[code]),
    }
    for relation in sorted(taxonomy.relations):
        if len(linked := taxonomy.related(code, relation)):
            result[relation] = taxonomy.labels(linked.tolist())
    word = concept.partition("#")[0]
    senses = taxonomy.senses_of(word).tolist()
    if len(senses) > 1:
        shown = {sense: f"{word}#{i}: {explain(taxonomy, sense)}" for i, sense in enumerate(senses, 1)}
        result["other senses"] = [text for sense, text in shown.items() if sense != code]
    return result


def _search(taxonomy: Taxonomy, text: str, limit: int) -> list[int]:
    """Exact names first, then names that start with the text, then names that hold it, then names spelled alike."""
    wanted = text.casefold().replace("_", " ").strip()
    if not wanted:
        return []
    ranked: list[tuple[int, int, str]] = []
    for term in taxonomy.terms:
        folded = term.casefold().replace("_", " ")
        if wanted in folded:
            rank = 0 if folded == wanted else 1 if folded.startswith(wanted) else 2
            ranked.append((rank, len(term), term))
    terms = [term for _, _, term in sorted(ranked)]
    if not terms:
        from keepsense.errors import nearest

        terms = nearest(text, taxonomy.terms, min(limit, 5))
    found = dict.fromkeys(int(code) for term in terms[: limit * 4] for code in taxonomy.senses_of(term))
    return list(found)[:limit]


COMMANDS.add("taxonomy", taxonomy)
_TAXONOMY: dict[str, Any] = {
    "name": ("name by which it is found", "text"),
    "title": ("what it is called", "text"),
    "concepts": ("its concepts", "whole"),
    "links": ("its is-a links", "whole"),
    "names": ("its terms", "whole"),
    "depth": ("links from the root to the deepest concept", "whole"),
    "leaves": ("concepts with none below", "whole"),
    "root": ("its root", "text"),
    "relations": ("relations other than is-a", ["text"]),
    "knows": ("what it is about", "text|null"),
    "licence": ("under what it is given", "text|null"),
    "bytes": ("its size on the disk", "whole|null"),
}
OUTPUTS.add("taxonomy import", _TAXONOMY)
OUTPUTS.add("taxonomy list", {"taxonomies": ("those that are at hand", [_TAXONOMY])})
OUTPUTS.add(
    "taxonomy search",
    {
        "taxonomy": ("the taxonomy", "text"),
        "found": ("concepts", [{**CONCEPT, "name": ("its name", "text")}]),
    },
)
OUTPUTS.add(
    "taxonomy show",
    {
        "name": ("of the taxonomy, or of the concept", "text"),
        **{f"{key}?": value for key, value in _TAXONOMY.items() if key != "name"},
        "id?": ("the concept's id", "text"),
        "meaning?": ("its definition", "text"),
        "also?": ("its other names", ["text"]),
        "a kind of?": ("what is directly above it", ["text"]),
        "kinds?": ("what is directly below it", ["text"]),
        "up to the root?": ("the way up", ["text"]),
        "concepts below?": ("how many are below it", "whole"),
        "other senses?": ("what else its name means", ["text"]),
        "*": "any",
    },
)
