"""`keepsense hierarchy`: build, score, explain, choose, edit, convert and improve hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from keepsense.commands import options as _complete
from keepsense.commands.command_registry import COMMANDS, FINDINGS, OUTPUTS
from keepsense.commands.options import EngineName, FittingTaxonomy, NamesInHelp, Within
from keepsense.commands.terminal import Json, Quiet, progress, safe, show, table
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS, KindName
from keepsense.taxonomy.formats import taxonomy_library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from keepsense.errors import Finding
    from keepsense.hierarchies.formats.hierarchy_formats import Passed
    from keepsense.hierarchies.hierarchy import Hierarchy
    from keepsense.semantics.distance import Distance
    from keepsense.taxonomy.taxonomy import Taxonomy

hierarchy = typer.Typer(
    help="Build, score, explain, choose, edit, convert and improve hierarchies.", no_args_is_help=True
)
KIND_NAMES = ", ".join(get_args(KindName))
File = Annotated[Path, typer.Argument(help="Hierarchy: {hierarchy files}.")]
Files = Annotated[list[Path], typer.Argument(help="Hierarchies of one column.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="File to write; its ending gives the format.")]
DistanceName = Annotated[
    str, typer.Option("--distance", "-d", help="Semantic distance to score with.", autocompletion=_complete.distances)
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        "--taxonomy",
        "-t",
        help="Taxonomy by name, or a taxonomy file; the one that the hierarchy was made with by default, else wordnet.",
        autocompletion=_complete.taxonomies,
    ),
]
KindOption = Annotated[
    str | None,
    typer.Option("--kind", help=f"{KIND_NAMES}; where the file does not say.", autocompletion=_complete.kinds),
]


@hierarchy.command("build", cls=NamesInHelp)
def build(
    file: Annotated[Path, typer.Argument(help="Table that holds the column.")],
    column: Annotated[str, typer.Argument(help="Column to build a hierarchy for.")],
    output: Output,
    kind: Annotated[
        str | None, typer.Option("--kind", help=f"{KIND_NAMES}; guessed by default.", autocompletion=_complete.kinds)
    ] = None,
    taxonomy: FittingTaxonomy = None,
    domain: Annotated[str | None, typer.Option(help="Concept below which all values lie, such as person.")] = None,
    within: Within = None,
    use: Annotated[Path | None, typer.Option(help="Mapping file that says what values mean.")] = None,
    order: Annotated[str | None, typer.Option(help="Values of an ordinal column, lowest first: low,high.")] = None,
    distance: DistanceName = "wu-palmer",
    seed: Annotated[int | None, typer.Option(min=0, hidden=True, help="Outdated, has no effect.")] = None,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a hierarchy for a column of a table: from a taxonomy for words, else from intervals, spans or masks."""
    from keepsense.draft.column_hierarchy import built_for_column

    with progress(quiet=quiet or as_json, what="building"):
        built = built_for_column(
            file,
            column,
            kind=kind,
            taxonomy=taxonomy,
            domain=domain,
            within=within,
            mapping=use,
            order=None if order is None else [part.strip() for part in order.split(",")],
            distance=distance,
            engine=engine,
        )
    _write(built.hierarchy, output, built.taxonomy)
    _show_written(built.hierarchy, output, built.why, built.findings, as_json=as_json, quiet=quiet)


@hierarchy.command("score", cls=NamesInHelp)
def score_files(
    files: Files,
    taxonomy: JudgeName = None,
    distance: DistanceName = "wu-palmer",
    kind: KindOption = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score hierarchies by the semantic loss of generalizing along them (GSL): 0 loses nothing, 1 everything."""
    from keepsense.hierarchies.hierarchy_scores import score

    found = []
    for path in files:
        tree, judge = _judged(path, [path], taxonomy, distance, kind)
        result = score(tree, judge, unknown="list")
        found.append({"file": str(path), **_scored(result, tree)})
    rows = [
        (e["file"], e["score"], e["grade"], " ".join(f"{x:.3f}" for x in e["levels"]), e["left_out"] or "")
        for e in found
    ]
    show(
        {"distance": distance, "hierarchies": found},
        lambda console: console.print(
            table(f"GSL by {distance}", ("hierarchy", "score", "grade", "level by level", "values not known"), rows)
        ),
        as_json=as_json,
        quiet=quiet,
    )


@hierarchy.command("explain", cls=NamesInHelp)
def explain_file(
    file: File,
    taxonomy: JudgeName = None,
    distance: DistanceName = "wu-palmer",
    kind: KindOption = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say where a hierarchy loses meaning, what is wrong with it and how to mend it."""
    from keepsense.hierarchies.hierarchy_faults import explain

    tree, judge = _judged(file, [file], taxonomy, distance, kind)
    found = explain(tree, judge, unknown="list")
    problems = [
        {
            "problem": problem.message,
            "fixes": [{"fix": fix.text, "score": float(fix.total)} for fix in problem.fixes],
        }
        for problem in found.problems
    ]
    show(
        {"file": str(file), **_scored(found.gsl, tree), "problems": problems},
        lambda console: console.print(str(found), markup=False, highlight=False, soft_wrap=True),
        as_json=as_json,
        quiet=quiet,
    )


@hierarchy.command("choose", cls=NamesInHelp)
def choose_file(
    files: Files,
    taxonomy: JudgeName = None,
    distance: DistanceName = "wu-palmer",
    kind: KindOption = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose among hierarchies of one column: the one that loses least meaning, before anything is anonymized."""
    from keepsense.hierarchies.hierarchy_choice import by_gsl, choose

    read = [_judged(path, files, taxonomy, distance, kind) for path in files]
    judge = next((own for _, own in read if own is not None), None)
    found = choose({"column": [tree for tree, _ in read]}, by_gsl(judge, unknown="list"))
    ranked = sorted(zip(found.scores["column"].tolist(), map(str, files), strict=True))
    rows = [(path, total, "chosen" if i == 0 else "") for i, (total, path) in enumerate(ranked)]
    show(
        {"chosen": ranked[0][1], "ranking": [{"file": path, "score": total} for total, path in ranked]},
        lambda console: console.print(table("Best first", ("hierarchy", "GSL", ""), rows)),
        as_json=as_json,
        quiet=quiet,
    )


@hierarchy.command("edit", cls=NamesInHelp)
def edit_file(
    file: File,
    operation: Annotated[
        str,
        typer.Argument(
            help="move, merge, split, rename, insert_level, drop_level, add_leaf or remove_leaf, as in the library."
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="What the operation takes: level=1 label=medic to='health worker'.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; the hierarchy itself by default.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make one change to a hierarchy and write it back, or to another file."""
    from keepsense.hierarchies.formats.hierarchy_formats import Passed
    from keepsense.hierarchies.hierarchy_editor import edit

    concepts = Passed()
    made = edit(_read(file, taxonomy=concepts), operation, **_arguments(arguments or [])).after
    target = output or file
    _write(made, target, concepts)
    _show_written(made, target, as_json=as_json, quiet=quiet)


@hierarchy.command("convert", cls=NamesInHelp)
def convert(
    file: File,
    output: Annotated[Path, typer.Argument(help="File to write; its ending gives the format.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a hierarchy in another format."""
    from keepsense.hierarchies.formats.hierarchy_formats import Passed

    concepts = Passed()
    made = _read(file, taxonomy=concepts)
    _write(made, output, concepts)
    _show_written(made, output, as_json=as_json, quiet=quiet)


@hierarchy.command("improve", cls=NamesInHelp)
def improve_file(
    file: File,
    output: Output,
    taxonomy: JudgeName = None,
    distance: DistanceName = "wu-palmer",
    at_most: Annotated[int, typer.Option(min=0, help="Most changes to make.")] = 100,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Mend a hierarchy step by step while it loses less meaning for it."""
    from keepsense.hierarchies.hierarchy_faults import improve

    tree, judge = _judged(file, [file], taxonomy, distance, None)
    if judge is None:
        raise BadInput(f"{file.name}: only hierarchies of words can be improved by meaning")
    with progress(quiet=quiet or as_json, what="improving") as listener:
        found = improve(tree, judge, unknown="list", at_most=at_most, listener=listener)
    _write(found.hierarchy, output, judge.taxonomy)

    def render(console: Console) -> None:
        for fix in found.fixes:
            console.print(f"  {fix.text} (GSL {fix.total:.4f})", markup=False, soft_wrap=True)
        console.print(
            f"{safe(output)}: GSL {found.before:.4f} before, {found.after:.4f} after; changes: {len(found.fixes)}"
        )

    fixes = [{"fix": fix.text, "score": float(fix.total)} for fix in found.fixes]
    result = {"file": str(output), "before": float(found.before), "after": float(found.after), "fixes": fixes}
    show(result, render, as_json=as_json, quiet=quiet)


# ---- files -----------------------------------------------------------------------------------------------------------


def _read(path: Path, kind: str | None = None, taxonomy: Taxonomy | Passed | None = None) -> Hierarchy:
    from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy

    return read_hierarchy(path, taxonomy=taxonomy).of_kind(kind)


def _judged(
    path: Path, files: list[Path], taxonomy: str | None, distance: str, kind: str | None
) -> tuple[Hierarchy, Distance | None]:
    """A hierarchy with the concepts of its words, and the distance to judge it with; none for other kinds.

    Without a name, the taxonomy is the one that the first of the files was made with which states one.
    """
    tree = _read(path, kind)
    if not KINDS[tree.kind].words:
        return tree, None
    from keepsense.hierarchies.word_concepts import with_concepts
    from keepsense.semantics.distance import distance as make

    chosen = _made_with(files) if taxonomy is None else taxonomy_library.find(taxonomy, lambda: _codes(files))
    known = _read(path, kind, chosen)
    return known if known.concepts is not None else with_concepts(tree, chosen, unknown="list"), make(distance, chosen)


def _made_with(files: list[Path]) -> Taxonomy:
    """The taxonomy that hierarchy files were made with, WordNet where they do not say."""
    from keepsense.hierarchies.formats.hierarchy_formats import Passed

    for path in files:
        concepts = Passed()
        _read(path, taxonomy=concepts)
        if concepts.identity is not None:
            return taxonomy_library.made_with(path.name, concepts.identity, lambda: _codes(files))
    return taxonomy_library.find(taxonomy_library.WORDNET)


def _codes(files: list[Path]) -> list[Any]:
    """The values that hierarchies are about."""
    return [value for path in files for value in _read(path).leaves if value is not None]


def _write(tree: Hierarchy, path: Path, taxonomy: Taxonomy | Passed | None) -> None:
    from keepsense.hierarchies.formats.hierarchy_formats import write_hierarchy

    write_hierarchy(tree, path, taxonomy=taxonomy)


def _scored(result: Any, tree: Hierarchy) -> dict[str, Any]:
    return {
        "values": len(tree.leaves),
        "height": tree.height,
        "score": float(result.total),
        "grade": str(result.grade),
        "levels": [float(x) for x in result.levels],
        "left_out": int(result.left_out),
    }


def _show_written(
    tree: Hierarchy,
    path: Path,
    why: str = "",
    findings: Sequence[Finding] = (),
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    sizes = [len(labels) for labels in tree.labels]
    about = {"file": str(path), "kind": str(tree.kind), "values": sizes[0], "height": tree.height, "levels": sizes}
    guessed = {"guessed": why} if why else {}
    told = {"findings": [{"code": f.code, "message": f.message} for f in findings]} if findings else {}

    def render(console: Console) -> None:
        console.print(
            f"{safe(path)}: {sizes[0]:,} values, {tree.height} levels above them "
            f"({', '.join(f'{n:,}' for n in sizes[1:])})",
            soft_wrap=True,
        )
        for line in [*([f"guessed: {why}"] if why else []), *map(str, findings)]:
            console.print(line, markup=False, soft_wrap=True)

    show({**about, **guessed, **told}, render, as_json=as_json, quiet=quiet)


def _arguments(given: list[str]) -> dict[str, Any]:
    """`key=value` pairs; whole numbers, and lists parted by commas where the operation takes several."""
    found: dict[str, Any] = {}
    for pair in given:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise BadInput(f"{pair!r} is not key=value, such as level=1")
        if key in ("labels", "values"):
            found[key] = [part.strip() for part in value.split(",")]
        elif key == "groups":
            found[key] = _groups(value)
        else:
            found[key] = int(value) if value.lstrip("-").isdigit() and key in ("level", "above") else value
    return found


def _groups(value: str) -> dict[str, list[str]]:
    """`medic:nurse,surgeon;office:clerk` as named groups."""
    named = {}
    for part in value.split(";"):
        name, sign, members = part.partition(":")
        if not sign:
            raise BadInput(f"{part!r} is not name:member,member; several groups are parted by ';'")
        named[name.strip()] = [member.strip() for member in members.split(",")]
    return named


COMMANDS.add("hierarchy", hierarchy)
_HIERARCHY: dict[str, Any] = {
    "file": ("the hierarchy file", "text"),
    "kind": ("kind of its values", "text"),
    "values": ("its leaves", "whole"),
    "height": ("levels above the leaves", "whole"),
    "levels": ("labels of each level, from the leaves up", ["whole"]),
    "guessed?": ("how a hierarchy was found without being told", "text"),
    "findings?": FINDINGS,
}
_SCORED: dict[str, Any] = {
    "file": ("the hierarchy file", "text"),
    "values": ("its leaves", "whole"),
    "height": ("levels above the leaves", "whole"),
    "score": ("its semantic loss: lower is better", "number|null"),
    "grade": ("that in a word", "text"),
    "levels": ("loss of each level", ["number|null"]),
    "left_out": ("leaves whose meaning is not known", "whole"),
}
_FIXES = ("edits that improve it", [{"fix": ("the edit", "text"), "score": ("the loss after it", "number")}])
OUTPUTS.add("hierarchy build", _HIERARCHY)
OUTPUTS.add(
    "hierarchy choose",
    {
        "chosen": ("the best file", "text"),
        "ranking": ("all, the best first", [{"file": ("the file", "text"), "score": ("its loss", "number")}]),
    },
)
OUTPUTS.add("hierarchy convert", _HIERARCHY)
OUTPUTS.add("hierarchy edit", _HIERARCHY)
OUTPUTS.add(
    "hierarchy explain",
    {
        **_SCORED,
        "problems": (
            "what is wrong with it",
            [{"problem": ("what", "text"), "fixes": _FIXES}],
        ),
    },
)
OUTPUTS.add(
    "hierarchy improve",
    {
        "file": ("the improved file", "text"),
        "before": ("its loss before", "number"),
        "after": ("its loss after", "number"),
        "fixes": _FIXES,
    },
)
OUTPUTS.add("hierarchy score", {"distance": ("the distance", "text"), "hierarchies": ("each file", [_SCORED])})
