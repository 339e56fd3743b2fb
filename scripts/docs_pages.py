"""A hook of MkDocs: the pages that are made from code while the documentation is built.

These are the reference (rooms, commands, project file, findings, JSON, drafts) and the catalogue of methods. MkDocs
calls `on_files` while it builds; a new room, command or method appears in the documentation without further work.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "keepsense"
# what works behind pages of its own (commands), or is nothing that a reader would call
HIDDEN = {"commands", "cli", "studio"}
METRICS_MARK = re.compile(r"<!-- metrics: (utility|risk) -->")
FINDINGS_MARK = re.compile(r"<!-- findings: ([EW0-9 ]+?) -->")
ORDER = ("Keepsense", "Tutorial", "How to", "Explanation", "Reference", "Decisions")

# folders whose index lists its pages by task: the navigation follows it
LISTED = {"Tutorial": "tutorial", "How to": "how-to"}


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to those that MkDocs found."""
    # installed with the documentation's tools only, so unknown to the type checker elsewhere
    file = import_module("mkdocs.structure.files").File
    from keepsense.guide.catalogue_text import as_page

    for name, text in pages().items():
        files.append(file.generated(config, f"reference/{name}.md", content=text))
    files.append(file.generated(config, "explanation/catalogue.md", content=as_page()))
    return files


def pages() -> dict[str, str]:
    """Generated pages by name: the index, the command line, and one a room."""
    rooms = dict(_rooms())
    made = {name.replace(".", "-"): _room_page(name, path) for name, path in rooms.items()}
    lines = [f"| [{name}]({name.replace('.', '-')}.md) | {_summary(path)} |" for name, path in rooms.items()]
    made["index"] = "\n".join(
        [
            "# Reference",
            "",
            "The [command line](command-line.md) and [what it prints with `--json`](json-output.md); the",
            "[project file](project-file.md); the [findings](findings.md); [what drafts recognise](drafts.md); and",
            "a page for each room of the library, with its modules and what they define.",
            "",
            "`import keepsense as ks` gives the names of [the front door](keepsense.md). All else is imported from its",
            "module: `from keepsense.taxonomy.mapper import map_values`.",
            "",
            "| room | what it holds |",
            "|---|---|",
            *lines,
            "",
        ]
    )
    made["command-line"] = _command_line()
    made["project-file"] = _project_file()
    made["findings"] = _findings()
    made["json-output"] = _json_output()
    made["drafts"] = _drafts()
    return made


def _json_output() -> str:
    """What every command prints with `--json`, from the one registry of their shapes."""
    from keepsense.commands.command_registry import OUTPUTS, output_schema

    lines = [
        "# JSON output",
        "",
        "What commands print with `--json`, key by key. `keepsense schema --of COMMAND` prints the JSON schema that a",
        "program can check it with. A key that may be missing is *in brackets*; `*` stands for any key, `[]` for each",
        "entry of a list.",
        "",
    ]
    for name in (None, *OUTPUTS):
        schema = output_schema(name)
        lines += [f"## {name or 'Where a command fails'}", "", "| key | meaning | type |", "|---|---|---|"]
        lines += [*_keys_of(schema), ""]
    return "\n".join(lines)


def _keys_of(schema: dict[str, Any], above: str = "") -> Iterator[str]:
    for key, entry in schema.get("properties", {}).items():
        name = f"{above}{key}"
        shown = f"`{name}`" if key in schema.get("required", ()) else f"[`{name}`]"
        inner = entry.get("items", entry)
        kind = entry.get("type", "anything")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        yield f"| {shown} | {entry['description']} | {kind} |"
        yield from _keys_of(inner, f"{name}[]." if "items" in entry else f"{name}.")
        if isinstance(further := inner.get("additionalProperties"), dict):
            yield from _keys_of(further, f"{name}.*.")


def _drafts() -> str:
    """What drafts recognise, from the tables that the rules read."""
    from keepsense.draft import vocabulary
    from keepsense.draft.cell_formats import DAYS, MARKS
    from keepsense.draft.recognizers import SIGNS
    from keepsense.engines.protocol import NUMBER_FORMATS
    from keepsense.hierarchies.column_kinds import KINDS
    from keepsense.hierarchies.ordinal_scales import SCALES
    from keepsense.project.roles import ROLES
    from keepsense.taxonomy.code_systems import SYSTEMS

    def listed(items: Iterable[str]) -> str:
        return ", ".join(f"`{item}`" for item in items)

    said = {
        "identifier": vocabulary.IDENTIFIERS,
        "person": vocabulary.PERSONS,
        "quasi-identifier": vocabulary.KNOWN_BY_OTHERS | vocabulary.PLACES | vocabulary.COORDINATES,
        "sensitive": vocabulary.SENSITIVE | vocabulary.MEASURED,
        "weight": vocabulary.WEIGHTS,
    }
    return "\n".join(
        [
            "# What drafts recognise",
            "",
            "The tables that `keepsense init` and `ks.anonymize` read;",
            "[how they are used](../how-to/what-drafts-recognise.md).",
            "",
            "## Roles",
            "",
            *(f"- **{name}**: {role.about}" for name, role in ROLES.items()),
            "",
            "## Kinds",
            "",
            *(f"- **{name}**: {kind.about} ({kind.examples})" for name, kind in KINDS.items()),
            "",
            "## What values give away",
            "",
            *(f"- {sign.name}" for sign in SIGNS),
            "- names of people, free text, numbers of rows",
            *(f"- codes of {system.title}" for system in SYSTEMS.values()),
            "",
            "## Words in names of columns",
            "",
            *(f"- **{role}**: {listed(sorted(words))}" for role, words in said.items()),
            "",
            "## Marks of missing values",
            "",
            listed(sorted(MARKS)) + ", and numbers of nines far away from all others, such as `-9` and `999`",
            "",
            "## Dates and numbers",
            "",
            f"Days: `2026-01-31`, {listed(DAYS)}, each with times of day.",
            f"Numbers: `1234.56`, {listed(NUMBER_FORMATS)}.",
            "",
            "## Ordered scales",
            "",
            *(f"- {name}" for name in SCALES),
            "",
        ]
    )


def _findings() -> str:
    """Every code of a finding, from the one table of them."""
    return "\n".join(
        [
            "# Findings",
            "",
            "What a check remarks has a code: `E...` must be mended, `W...` should be looked at; each means one thing.",
            "Findings name columns and count; they never show the values of people.",
            "",
            findings_table(("E", "W")),
            "",
        ]
    )


def findings_table(starts: tuple[str, ...]) -> str:
    """The codes that start in some way, with what they say and what to do."""
    from keepsense.errors import FINDINGS

    rows = [
        f"| {code} | {meaning.says} | {meaning.remedy} |"
        for code, meaning in sorted(FINDINGS.items(), key=lambda item: (item[0][1], item[0]))
        if code.startswith(starts)
    ]
    return "\n".join(["| code | what it says | what to do |", "|---|---|---|", *rows])


def metrics_table(about: str) -> str:
    """All metrics of utility or of risk, from the one registry of them."""
    from keepsense.metrics import METRICS

    entries = sorted((entry for entry in METRICS.values() if entry.about == about), key=lambda entry: entry.rank)
    rows = [
        f"| `{entry.name}` | {entry.label.format('*a column*')}: {entry.meaning} | {entry.formula} | "
        f"{entry.range}, {entry.direction} is better | {'every run' if entry.every_run else 'reports'} |"
        for entry in entries
    ]
    header = ["| metric | what it means | how it is computed | from best to worst | where |", "|---|---|---|---|---|"]
    return "\n".join([*header, *rows])


def _project_file() -> str:
    """Every key of the project file, from the schema that checks it."""
    from keepsense.methods.method import methods
    from keepsense.privacy.privacy_model import PRIVACY
    from keepsense.project.project_file import json_schema

    schema = json_schema()
    sections = {
        "source": ("Source", "The table to anonymize."),
        "population": ("Source", "The table of everybody it was drawn from; optional, with the keys of `[source]`."),
        "columns.NAME": ("Column", "One section for each column."),
        "[steps]": ("Step", "What is done before the method decides, one after the other; optional."),
        "method": ("Method", "How the table is changed."),
        "set_method": ("Method", "How set-valued quasi-identifiers beside others are changed; optional."),
        "release": ("Target", "Where the release goes."),
        "engine": ("EngineChoice", "Where the rows are while a release is made; optional."),
    }
    lines = [
        "# The project file",
        "",
        "One TOML file says what is protected and how. `keepsense init` writes one, `keepsense schema` prints the JSON",
        "schema that this page is made from. A key that is not listed here is refused, with the nearest one as a hint.",
        "",
        "| key | meaning | values | default |",
        "|---|---|---|---|",
        _row("unlisted", schema["properties"]["unlisted"]),
        "",
        "## [[privacy]]",
        "",
        f"{schema['properties']['privacy']['description']}. Each section has a `model` and its parameters.",
        "",
        "| model | promises that | where | parameters | paper |",
        "|---|---|---|---|---|",
        *(_model_row(entry) for entry in PRIVACY.values()),
        "",
    ]
    for section, (part, about) in sections.items():
        properties = schema["$defs"][part]["properties"]
        lines += [f"## [{section}]", "", about, ""]
        if section == "population":
            continue
        lines += ["| key | meaning | values | default |", "|---|---|---|---|"]
        lines += [_row(key, found) for key, found in properties.items()]
        lines.append("")
    lines += ["## Methods", "", "| name | what it does | released values are true |", "|---|---|---|"]
    for method in sorted(methods(in_projects=True), key=lambda method: method.name):
        lines.append(f"| `{method.name}` | {method.short} | {'yes' if method.truthful else 'no'} |")
    return "\n".join([*lines, ""])


def _model_row(entry: Any) -> str:
    """A privacy model as a row of a table."""
    takes = [
        f"`{name}`: {' or '.join(f'`{option}`' for option in parameter.options) or str(parameter)}"
        f"{'' if entry.required(name) else ' (optional)'}"
        for name, parameter in entry.parameters().items()
    ]
    return f"| `{entry.name}` | {entry.promises} | {entry.choose} | {'; '.join(takes)} | {entry.paper} |"


def _row(key: str, found: dict[str, Any]) -> str:
    """A key of the project file as a row of a table."""
    options = [found] if key == "name" else found.get("anyOf", [found])  # methods have a table of their own
    values = []
    for option in options:
        if "enum" in option:
            values += [f"`{value}`" for value in option["enum"]]
        elif option.get("type") not in (None, "null"):
            low, high = option.get("minimum", option.get("exclusiveMinimum")), option.get("maximum")
            span = f" from {low} to {high}" if high is not None else f" above {low}" if low is not None else ""
            values.append(f"{option['type']}{span}")
    default = found.get("default")
    shown = "" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"
    return f"| `{key}` | {found.get('description', '')} | {', '.join(values)} | {shown} |"


def _rooms() -> Iterator[tuple[str, Path]]:
    """The front door, packages, and top-level modules with public definitions, by their dotted names."""
    yield "keepsense", PACKAGE / "__init__.py"
    for path in sorted({*PACKAGE.glob("*.py"), *PACKAGE.rglob("*/__init__.py")} - {PACKAGE / "__init__.py"}):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] not in HIDDEN and (len(parts) > 1 or _defined(path)):
            yield ".".join(part for part in parts if part != "__init__"), path


def _exported() -> list[str]:
    """Where each name of the front door is defined, from the stub of the package."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    return [
        f"{node.module}.{alias.name}" for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


def _defined(path: Path) -> list[str]:
    """Functions and classes of a module that are public and have an example in their docstrings."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    body = ast.parse(path.read_text(encoding="utf-8")).body
    public = [node for node in body if isinstance(node, kinds) and not node.name.startswith("_")]
    return list(dict.fromkeys(node.name for node in public if ">>>" in ast.unparse(node)))


def _summary(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _room_page(name: str, path: Path) -> str:
    """A room: what it holds, a table of its modules, and the definitions of each."""
    if name == "keepsense":
        names = sorted(_exported(), key=lambda dotted: dotted.rpartition(".")[2].casefold())
        return "\n\n".join(["# The front door", _summary(path), *(f"::: {dotted}" for dotted in names)]) + "\n"
    if path.name != "__init__.py":
        return f"# {name}\n\n{_module(f'keepsense.{name}', path, heading=False)}\n"
    modules = {file.stem: file for file in sorted(path.parent.glob("*.py")) if file.stem != "__init__"}
    lines = [f"| [{stem}](#keepsense.{name}.{stem}) | {_summary(file)} |" for stem, file in modules.items()]
    about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    blocks = [_module(f"keepsense.{name}.{stem}", file) for stem, file in modules.items()]
    table = "\n".join(["| module | what it holds |", "|---|---|", *lines]) if modules else ""
    return "\n\n".join([f"# {name}", about, table, *blocks]) + "\n"


def _module(dotted: str, path: Path, *, heading: bool = True) -> str:
    """A module as mkdocstrings shows it: its docstring and the definitions that have an example."""
    names = ", ".join(_defined(path))
    return "\n".join(
        [
            f"::: {dotted}",
            "    options:",
            f"      show_root_heading: {str(heading).lower()}",
            f"      members: [{names}]" if names else "      members: false",
        ]
    )


def _command_line() -> str:
    """Every command with its arguments and options, as `--help` shows them."""
    from typer.main import get_command

    from keepsense.cli import app
    from keepsense.commands.options import filled

    lines = ["# The command line", "", "`keepsense COMMAND --help` shows the same in the terminal.", ""]
    lines += ["Exit codes: 0 done, 1 goal not met, 2 bad input, 3 a bug in Keepsense, 130 interrupted.", ""]
    for name, command in _commands("keepsense", get_command(app)):
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option" and not getattr(p, "hidden", False)]
        usage = " ".join([name, *("[OPTIONS]" for _ in options[:1]), *(_usage(p) for p in arguments)])
        lines += [f"## {name}", "", (command.help or "").strip(), "", "```text", usage, "```", ""]
        rows = [f"| `{_usage(p)}` | {filled(p.help)} |" for p in arguments]
        rows += [f"| `{', '.join([*p.opts, *p.secondary_opts])}` | {filled(p.help)}{_default(p)} |" for p in options]
        lines += ["| give | meaning |", "|---|---|", *rows, ""] if rows else []
    return "\n".join(lines)


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for key in sorted(inner):
        yield from _commands(f"{name} {key}", inner[key])


def _usage(argument: Any) -> str:
    word = str(argument.name).upper()
    return word if argument.required else f"[{word}]"


def _default(option: Any) -> str:
    value = option.default
    return "" if value in (None, False) or callable(value) else f" Default: `{value}`."


def on_nav(nav: Any, config: Any, files: Any) -> Any:
    """Put the folders into the order in which people need them, and the command line before the rooms."""
    nav.items.sort(key=lambda item: ORDER.index(item.title) if item.title in ORDER else 0)
    for section in nav.items:
        if section.title == "Reference":
            first = ("reference/command-line.md", "reference/project-file.md", "reference/findings.md")
            section.children.sort(key=lambda page: page.file.src_uri not in first)
        elif section.title in LISTED:
            text = (ROOT / "docs" / LISTED[section.title] / "index.md").read_text(encoding="utf-8")
            section.children.sort(key=lambda page, text=text: text.find(f"({Path(page.file.src_uri).name})"))
    return nav


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put a list of the other pages of a folder where its index says `<!-- pages -->`; tables likewise."""
    markdown = FINDINGS_MARK.sub(lambda mark: findings_table(tuple(mark[1].split())), markdown)
    markdown = METRICS_MARK.sub(lambda mark: metrics_table(mark[1]), markdown)
    if "<!-- pages -->" not in markdown:
        return markdown
    folder = str(page.file.src_uri).rpartition("/")[0]
    others = {
        file.src_uri.rpartition("/")[2]: file.content_string
        for file in files.documentation_pages()
        if file.src_uri.rpartition("/")[0] == folder and file.src_uri != page.file.src_uri
    }
    lines = [f"- [{_title(text)}]({name})" for name, text in sorted(others.items())]
    return markdown.replace("<!-- pages -->", "\n".join(lines))


def _title(text: str) -> str:
    """The first heading of a page."""
    return next(line[2:].strip() for line in text.splitlines() if line.startswith("# "))
