"""A hook of MkDocs: makes the reference from docstrings, and pages for the command line and the project file.

MkDocs calls `on_files` while it builds; a new room or command appears in the documentation by itself.
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
# what works behind a page of its own (commands), or is nothing a reader would call
HIDDEN = {"commands", "cli"}
METRICS_MARK = re.compile(r"<!-- metrics: (utility|risk) -->")
FINDINGS_MARK = re.compile(r"<!-- findings: ([EW0-9 ]+?) -->")
ORDER = ("Keepsense", "Tutorial", "How to", "Explanation", "Reference", "Decisions")

# folders whose index lists its pages by task: the navigation follows it
LISTED = {"Tutorial": "tutorial", "How to": "how-to"}


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to those that MkDocs found."""
    # installed with the documentation's tools only, so unknown to the type checker elsewhere
    file = import_module("mkdocs.structure.files").File
    for name, text in pages().items():
        files.append(file.generated(config, f"reference/{name}.md", content=text))
    return files


def pages() -> dict[str, str]:
    """Generated pages by name: the index, the command line, and one a room."""
    rooms = dict(sorted(_rooms()))
    made = {name.replace(".", "-"): _room_page(name, path) for name, path in rooms.items()}
    lines = [f"| [{name}]({name.replace('.', '-')}.md) | {_summary(path)} |" for name, path in rooms.items()]
    made["index"] = "\n".join(
        [
            "# Reference",
            "",
            "Everything public, from its docstrings, a page for each room of the house; the",
            "[command line](command-line.md) and [what it prints with `--json`](json-output.md); the",
            "[project file](project-file.md); the [findings](findings.md); and [what drafts recognise](drafts.md).",
            "",
            "| room | what it answers |",
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
    """Packages and top-level modules that hold something public, as dotted names below `keepsense`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        if not name or any(part.startswith("_") or part in HIDDEN for part in parts if part != "__init__"):
            continue
        if (is_package and _exported(path)) or (len(parts) == 1 and _defined(path)):
            yield name, path


def _exported(path: Path) -> list[str]:
    """Names a package lists in `__all__`, or in the stub beside it."""
    stub = path.with_suffix(".pyi")
    if stub.is_file():
        imports = [
            node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)
        ]
        return sorted(alias.name for node in imports for alias in node.names)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [getattr(t, "id", "") for t in node.targets] == ["__all__"]:
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def _defined(path: Path) -> list[str]:
    """Public functions and classes that a module defines."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return [node.name for node in body if isinstance(node, kinds) and not node.name.startswith("_")]


def _summary(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _room_page(name: str, path: Path) -> str:
    names = _exported(path) or _defined(path)
    blocks = [f"::: keepsense.{name}.{member}" for member in sorted(names, key=str.casefold)]
    return "\n\n".join([f"# {name}", _summary(path), *blocks]) + "\n"


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
    others = sorted(
        file.src_uri.rpartition("/")[2]
        for file in files.documentation_pages()
        if file.src_uri.rpartition("/")[0] == folder and file.src_uri != page.file.src_uri
    )
    lines = [f"- [{_title(Path(config['docs_dir']) / folder / name)}]({name})" for name in others]
    return markdown.replace("<!-- pages -->", "\n".join(lines) or "None yet.")


def _title(path: Path) -> str:
    headings = (line[2:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return next(headings, path.stem.replace("-", " "))
