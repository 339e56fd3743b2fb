"""`keepsense demo`: draft, release, verify and report on synthetic people, from end to end."""

from __future__ import annotations

import csv
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.run_command import RELEASE
from keepsense.commands.run_command import as_data as release_data
from keepsense.commands.run_command import render as render_run
from keepsense.commands.terminal import Json, Quiet, Share, progress, show, table

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console
    from rich.table import Table

    from keepsense.progress import Listener
    from keepsense.release.run import Outcome
    from keepsense.taxonomy.taxonomy import Taxonomy
    from keepsense.taxonomy.value_mapping import Mapping

MEASURE = "log-feature"
_COMPARED = ("nurse", "physician", "schoolteacher", "carpenter", "plumber", "farmer")
_HOW = {"table": "your own table", "normalised": "its spelling", "head": "its last word"}
_EXAMPLES = (
    ("occupation", "police-officer"),
    ("occupation", "night nurse"),
    ("workplace", "bank"),
    ("hobby", "chess"),
    ("hobby", "jazz"),
    ("hobby", "reading"),
)


# how the senses of each column's words are chosen: a domain, a strategy, a table of one's own
_CHOICES: dict[str, dict[str, Any]] = {
    "occupation": {"domain": ("person", "operator#2")},
    "workplace": {"domain": ("artifact", "organization", "workplace", "forest", "body of water", "tract")},
    "hobby": {"table": {"reading": "reading#1"}},
    "place": {"domain": "location"},
    "diagnosis": {"domain": ("state#2", "symptom")},
    "interests": {"table": {"mountain": "mountain#1"}},
}


@dataclass(frozen=True)
class _Column:
    """What the demo says of one column."""

    column: str
    values: int
    rows_mapped: float
    mean: str
    variance: float
    unmapped: list[dict[str, Any]]


@dataclass(frozen=True)
class Demo:
    """What the demo found out, before anybody looks at it."""

    people: int
    taxonomy: Taxonomy
    mappings: dict[str, Mapping]
    columns: list[_Column]
    distances: list[list[float]]

    def result(self) -> dict[str, Any]:
        """The same for scripts."""
        pairs = zip(_COMPARED, self.distances, strict=True)
        return {
            "people": self.people,
            "taxonomy": self.taxonomy.name,
            "columns": [asdict(column) for column in self.columns],
            "measure": MEASURE,
            "distances": {word: dict(zip(_COMPARED, row, strict=True)) for word, row in pairs},
        }

    def tables(self) -> list[Table]:
        """The same for people, most important first."""
        left_over = _left_over(self.columns)
        return [_summary(self.columns), _examples(self.mappings), _distances(self.distances), left_over]

    def title(self) -> str:
        """One line on what was done."""
        return (
            f"[bold]{self.people:,} synthetic people[/], their words mapped onto [bold]{self.taxonomy.name}[/] "
            f"({len(self.taxonomy):,} concepts)\n"
        )


def demo(
    rows: Annotated[int, typer.Option(min=100, help="How many synthetic people.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other people.")] = 1,
    keep: Annotated[
        Path | None, typer.Option(help="Keep the table, the project file and the release in this folder.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make synthetic people, show what their words mean, then advise, draft a project, run, verify and report."""
    start = time.perf_counter()
    found = run_demo(rows, seed)
    with (
        nullcontext(str(keep)) if keep is not None else tempfile.TemporaryDirectory(prefix="keepsense-demo-") as folder,
        progress(quiet=quiet or as_json) as listener,
    ):
        done = publish_demo(rows, seed, Path(folder), listener)
        shown = _first_rows(done.file)
        after = _afterwards(done, Path(folder))
    seconds = time.perf_counter() - start

    def render(console: Console) -> None:
        console.print(f"\n{found.title()}", *found.tables(), sep="\n")
        console.rule("[bold]Which method fits, says the guide[/]", align="left", style="bright_black")
        console.print(table("Advice", ("method", "part", "because"), after.advice))
        console.rule("[bold]Now the same people, published[/]", align="left", style="bright_black")
        render_run(console, done, Path(folder) if keep is None else None)
        console.print(shown)
        again = "[bold green]verified[/]" if after.verified else "[bold red]NOT verified[/]"
        console.print(
            f"Read back once more as a recipient would: {again}. Two reports are written: "
            f"[bold]{after.reports[0]}[/] for the public, [bold]{after.reports[1]}[/] for colleagues.\n",
            soft_wrap=True,
        )
        where = f"{keep} keeps it all." if keep is not None else "Nothing was kept; --keep FOLDER keeps it all."
        console.print(f"{seconds:.1f} s. {where} Do it yourself:", soft_wrap=True)
        for line in ("sample people.csv", "init people.csv", "guide --project keepsense.toml", "run --report"):
            console.print(f"  keepsense {line}", markup=False)

    made = {**release_data(done), "file": str(done.file.relative_to(folder))}
    advice = [{"method": name, "for": part, "because": why} for name, part, why in after.advice]
    checked = {"advice": advice, "verified again": after.verified, "reports": list(after.reports)}
    result = {**found.result(), "release": made, **checked, "seconds": round(seconds, 3)}
    show(result, render, as_json=as_json, quiet=quiet)


def publish_demo(rows: int, seed: int, folder: Path, listener: Listener | None = None) -> Outcome:
    """Publish synthetic people as a newcomer would: write them, draft a project, run it as it is."""
    from keepsense.draft.inspection import inspect
    from keepsense.draft.project_text import FILE, draft, write_draft
    from keepsense.release.run import run
    from keepsense.sample_people import write_people

    folder.mkdir(parents=True, exist_ok=True)
    table = write_people(folder / "people.csv", rows, seed)
    project = write_draft(draft(inspect(table), source={"path": table.name}), folder / FILE, force=True)
    return run(project, rng=seed, listener=listener)


@dataclass(frozen=True)
class _After:
    """What else there is to a release: advice on methods, a second check, two reports."""

    advice: list[tuple[str, str, str]]
    verified: bool
    reports: tuple[str, str]


def _afterwards(done: Outcome, folder: Path) -> _After:
    """Ask the guide, check the release as a recipient would, and write both reports."""
    from keepsense.guide.advice import recommend
    from keepsense.guide.answers import from_project
    from keepsense.release.verify import verify_file
    from keepsense.report.report import write_report

    project = done.job.project
    best = recommend(from_project(project, done.counts.total), limit=2)
    advice = [(one.name, one.part, one.reasons[0] if one.reasons else "") for one in best]
    checked, _ = verify_file(project, done.file, folder=folder)
    public = write_report(done, done.file.parent / "report.html", "public")
    # other methods are not tried here: on a machine that never ran them, they would be compiled first
    internal = write_report(done, done.file.parent / "private" / "report.html", alternatives=False)
    return _After(advice, checked.ok, (public.relative_to(folder).as_posix(), internal.relative_to(folder).as_posix()))


def _first_rows(file: Path, number: int = 4) -> Table:
    with file.open(encoding="utf-8", newline="") as text:
        lines = list(islice(csv.reader(text), number + 1))
    return table("The first released records", lines[0], lines[1:])


def run_demo(rows: int, seed: int) -> Demo:
    """Make people, map their words, measure them."""
    from keepsense.sample_people import people
    from keepsense.semantics.distance import distance
    from keepsense.taxonomy.embedded_taxonomies import wordnet

    sample = people(rows, seed)
    taxonomy = wordnet()
    mappings = {name: _mapped(sample, name, taxonomy) for name in _CHOICES}
    columns = [_described(mapping) for mapping in mappings.values()]
    between = distance(MEASURE, taxonomy).matrix(_COMPARED)
    return Demo(rows, taxonomy, mappings, columns, between.tolist())


def _mapped(sample: pa.Table, name: str, taxonomy: Taxonomy) -> Mapping:
    """Count the column once, map what is distinct."""
    from keepsense.sample_people import SEPARATOR
    from keepsense.taxonomy.mapper import map_values

    cells = sample.column(name).to_pylist()
    counts = Counter(word for cell in cells for word in (cell.split(SEPARATOR) if name == "interests" else [cell]))
    return map_values(dict(counts.most_common()), taxonomy, column=name, suggestions="accept", **_CHOICES[name])


def _described(mapping: Mapping) -> _Column:
    from keepsense.counts import Counts
    from keepsense.semantics.attribute import nominal
    from keepsense.semantics.semantic_operators import semantic_mean, semantic_variance

    concepts = mapping.concepts
    rows = dict(zip(mapping.values, mapping.rows.tolist(), strict=True))
    counts = Counts.of({mapping.column: list(concepts)}, weights=[rows[value] for value in concepts])
    column = nominal(counts, mapping.column, mapping.taxonomy, MEASURE, concepts=concepts)
    mean = semantic_mean(column)
    suggested = mapping.suggestions()
    unmapped = [{"value": v, "rows": rows[v], "suggestions": suggested.get(v, [])} for v in mapping.unmapped]
    return _Column(
        mapping.column,
        len(mapping),
        mapping.coverage.rows,
        mean.label,
        semantic_variance(column, mean),
        sorted(unmapped, key=lambda entry: -entry["rows"]),
    )


# ---- tables for people -----------------------------------------------------------------------------------------------


def _summary(columns: list[_Column]) -> Table:
    rows = [(c.column, c.values, f"{c.rows_mapped:.1%}", c.mean, c.variance, len(c.unmapped)) for c in columns]
    names = ("column", "values", "rows mapped", "semantic mean", "variance", "not mapped")
    return table("What the columns mean", names, rows)


def _examples(mappings: dict[str, Mapping]) -> Table:
    """A few words that are not simply looked up: what decided on their meaning, and which sense it overruled."""
    rows = []
    for column, word in _EXAMPLES:
        mapping = mappings[column]
        if word in mapping.values:
            i = mapping.values.index(word)
            chosen = int(mapping.codes[i])
            senses = mapping.taxonomy.senses_of(mapping.names[i]).tolist()
            overruled = _kind(mapping.taxonomy, senses[0]) if chosen != senses[0] else ""
            reason = "the column's domain" if "domain" in _CHOICES[column] else "the words around it"
            rows.append((column, word, _HOW.get(mapping.how[i], reason), _kind(mapping.taxonomy, chosen), overruled))
    return table("How a word is found", ("column", "written", "found by", "a kind of", "and not of"), rows)


def _kind(taxonomy: Taxonomy, concept: int) -> str:
    return taxonomy.label(int(taxonomy.parents[concept][0]))


def _distances(between: list[list[float]]) -> Table:
    rows = [(a, *map(Share, row)) for a, row in zip(_COMPARED, between, strict=True)]
    return table(f"How far apart words are ({MEASURE}; 0 is the same, 1 is the furthest)", ("", *_COMPARED), rows)


def _left_over(columns: list[_Column]) -> Table:
    """The most frequent unmapped values of each column."""
    rows = [
        (c.column, entry["value"], entry["rows"], ", ".join(entry["suggestions"]))
        for c in columns
        for entry in c.unmapped[:2]
    ]
    hidden = sum(len(c.unmapped) for c in columns) - len(rows)
    caption = f"and {hidden} more; nothing is dropped silently" if hidden > 0 else None
    return table("What is in no concept", ("column", "written", "rows", "did you mean"), rows, caption)


COMMANDS.add("demo", demo)
OUTPUTS.add(
    "demo",
    {
        "people": ("synthetic people", "whole"),
        "taxonomy": ("taxonomy of their words", "text"),
        "columns": ("how well the taxonomy knows each column", [{"*": "any"}]),
        "measure": ("name of the distance", "text"),
        "distances": ("distances between some words", {"*": {"*": "number"}}),
        "release": ("the release, as `run` prints it", RELEASE),
        "advice": ("methods that fit", [{"*": "text"}]),
        "verified again": ("whether the file was verified once more", "truth"),
        "reports": ("report files", ["text"]),
        "seconds": ("how long it took", "number"),
    },
)
