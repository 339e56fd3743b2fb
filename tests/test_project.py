"""What must hold for the project as a whole: light imports, examples that run, everything public explained."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import keepsense
from tests.pages import PAGES, ROOT, blocks, commands, trimmed

HEAVY = ("numba", "scipy", "duckdb", "pandas", "polars", "nicegui", "pyspark", "rdflib", "pronto", "fastobo", "sklearn")

# ---- imports ---------------------------------------------------------------------------------------------------------


def loaded_after(code: str) -> set[str]:
    """Top-level packages that are loaded in a fresh interpreter after it ran some code."""
    program = f"import sys, io\nout, sys.stdout = sys.stdout, io.StringIO()\n{code}\nprint(*sys.modules, file=out)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = loaded_after("import keepsense")
    assert "keepsense" in loaded
    assert loaded.isdisjoint({*HEAVY, "numpy", "pyarrow", "rich", "typer"})


IMPORT_ROOMS = """
import importlib, pkgutil, sys
import keepsense
found = {}
rooms = [m.name for m in pkgutil.iter_modules(keepsense.__path__) if m.ispkg]
for room in rooms:  # each as if it were the first
    for name in [name for name in sys.modules if name.partition(".")[0] == "keepsense"]:
        del sys.modules[name]
    importlib.import_module(f"keepsense.{room}")
    for heavy in {"numba", "nicegui", "pyspark", "rdflib", "pronto", "pandas"} & set(sys.modules):
        found.setdefault(heavy, room)
print(len(rooms), found)
"""


def test_a_room_is_imported_alone_and_imports_no_compilers_or_extras() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ROOMS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rooms = [m.name for m in pkgutil.iter_modules(keepsense.__path__) if m.ispkg]
    assert done.stdout == f"{len(rooms)} {{}}\n"


def test_help_imports_nothing_heavy_and_no_numpy() -> None:
    program = "from keepsense.cli import main\ntry: main(['--help'])\nexcept SystemExit as end: assert end.code == 0"
    loaded = loaded_after(program)
    assert "typer" in loaded
    assert loaded.isdisjoint({*HEAVY, "numpy", "pyarrow", "rapidfuzz"})


def test_a_run_imports_what_it_needs_and_no_more(tmp_path: Path) -> None:
    rows = "\n".join(f"{20 + i % 40};{'mf'[i % 2]};{i % 7}" for i in range(400))
    (tmp_path / "people.csv").write_text(f"age;sex;ward\n{rows}\n")
    project = (
        '[source]\npath = "people.csv"\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n[method]\nname = "optimal"\n'
        '[release]\nsuppression = 0.05\n[columns.age]\nrole = "quasi-identifier"\nkind = "numeric"\n'
        '[columns.sex]\nrole = "quasi-identifier"\n[columns.ward]\nrole = "insensitive"\n'
    )
    file = tmp_path / "keepsense.toml"
    file.write_text(project)
    program = f"from keepsense.cli import main\ntry: main(['run', {str(file)!r}, '-q'])\nexcept SystemExit as end: "
    loaded = loaded_after(f"{program}assert not end.code, end.code")
    assert (tmp_path / "release" / "people.csv").exists()
    assert {"duckdb", "pyarrow"} <= loaded
    assert loaded.isdisjoint(
        {*HEAVY, "altair", "nltk", "rapidfuzz", "narwhals", "rich", "openpyxl", "yaml"} - {"duckdb"}
    )


def test_a_method_is_found_without_importing_the_others() -> None:
    code = (
        "import sys; from keepsense.methods.method import method; from keepsense.engines.protocol import ENGINES\n"
        "names = method('semantic mondrian').name, ENGINES['duckdb'].name\n"
        "found = [m for m in sys.modules if m.startswith(('keepsense.methods.', 'keepsense.engines.'))]\n"
        "print(*names, 'keepsense.methods.generalize.semantic_mondrian' in found, *found, sep=';')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *names, own, found = run.stdout.strip().split(";", 3)
    assert [*names, own] == ["semantic mondrian", "duckdb", "True"]
    for other in ("methods.generalize.datafly", "methods.perturb.noise", "engines.spark"):
        assert f"keepsense.{other}" not in found.split(";")


def test_listing_what_there_is_imports_no_compiler() -> None:
    code = (
        "from keepsense.methods.method import METHODS; from keepsense.privacy.privacy_model import PRIVACY\n"
        "from keepsense.metrics import METRICS; from keepsense.semantics.distance import DISTANCES\n"
        "from keepsense.engines.protocol import ENGINES\n"
        "from keepsense.taxonomy.formats.taxonomy_formats import LOADERS\n"
        "assert min(map(len, (METHODS, PRIVACY, METRICS, DISTANCES, ENGINES, LOADERS))) > 1"
    )
    assert loaded_after(code).isdisjoint({*HEAVY, "pyarrow", "yaml"})


def test_public_names_of_the_package_resolve() -> None:
    for name in keepsense.__all__:
        assert getattr(keepsense, name) is not None, name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        keepsense.nonsense  # noqa: B018


# ---- everything public is explained ----------------------------------------------------------------------------------


def rooms() -> list[str]:
    """Public packages and modules: no part of the name starts with an underscore."""
    found = [m.name for m in pkgutil.walk_packages(keepsense.__path__, "keepsense.")]
    return [name for name in found if not any(part.startswith("_") for part in name.split("."))]


def load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("keepsense"):
            raise
        pytest.skip(f"{name} needs {error.name}, which is not installed")


def test_every_module_says_what_it_is(subtests: pytest.Subtests) -> None:
    for room in rooms():
        with subtests.test(room=room):
            assert (load(room).__doc__ or "").strip(), f"{room} has no docstring"


def test_every_exported_function_and_class_has_an_example(subtests: pytest.Subtests) -> None:
    for room in rooms():
        with subtests.test(room=room):
            module = load(room)
            bare = []
            for name in getattr(module, "__all__", ()):
                thing = getattr(module, name)
                if not (inspect.isclass(thing) or inspect.isfunction(thing)) or name.startswith("_"):
                    continue
                if ">>>" not in (inspect.getdoc(thing) or ""):
                    bare.append(name)
            assert not bare, f"{room}: without an example in the docstring: {', '.join(bare)}"


def test_entries_are_listed_in_one_order_whatever_was_imported_before() -> None:
    def listed(before: str) -> str:
        code = f"import {before}; from keepsense.privacy.privacy_model import PRIVACY; print(list(PRIVACY))"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    room = "keepsense.privacy"
    assert listed(f"{room}.risk_thresholds, {room}.km_anonymity") == listed(f"{room}.l_diversity")


SHOWS_NOTHING = re.compile(r">>> .*(issubclass\(|callable\(|\b[A-Za-z_]+\.__name__)")


def test_examples_show_more_than_that_a_thing_is_there() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in sorted((ROOT / "src").rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if SHOWS_NOTHING.search(line)
    ]
    assert not found, f"examples that show nothing: {', '.join(found)}"


HIDDEN = {"commands", "studio"}
"""Rooms with pages of their own kind: the command line, and the how-to page of the studio."""


def test_the_reference_has_a_page_for_every_room_and_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    pages = importlib.import_module("docs_pages").pages()
    folders = {found.parent.relative_to(ROOT / "src" / "keepsense") for found in (ROOT / "src").rglob("*/__init__.py")}
    shown = {"-".join(folder.parts) for folder in folders if folder.parts and folder.parts[0] not in HIDDEN}
    assert shown | {"index", "keepsense", "command-line", "sample_people", "counts", "errors", "recoding"} <= set(pages)
    for command in ("demo", "sample", "map", "distance", "version", "taxonomy list", "taxonomy import"):
        assert f"## keepsense {command}\n" in pages["command-line"]
    assert "--json" in pages["command-line"]
    assert all(known in pages["drafts"] for known in ("e-mail addresses", "`surname`", "`99/99/9999`", "`%d.%m.%Y`"))


def test_the_version_is_written_once_and_the_same() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == keepsense.__version__
    assert f"[{keepsense.__version__}]" in (ROOT / "CHANGELOG.md").read_text() or "## Unreleased" in (
        ROOT / "CHANGELOG.md"
    ).read_text(encoding="utf-8")


def test_doctests_of_the_whole_package_are_collected() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert "--doctest-modules" in options["addopts"]
    assert "src" in options["testpaths"]


# ---- examples in pages run -------------------------------------------------------------------------------------------


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def pages_with(kind: str) -> list[Path]:
    return [page for page in PAGES if any(block.kind == kind and not block.title for block in blocks(page))]


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page share one namespace and an empty folder; a block `output` is what the one before it prints.

    A block with a title is a file, which the page's commands run.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEEPSENSE_HOME", str(tmp_path / "home"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        if block.kind == "python" and not block.title:
            # blank lines before it make a traceback name the page's own line
            code = compile("\n" * (block.line - 1) + block.text, name_of(page), "exec")
            with redirect_stdout(io.StringIO()) as out:
                exec(code, namespace)
            printed = out.getvalue()
        elif block.kind == "output":
            assert printed.splitlines() == block.text.splitlines(), f"{name_of(page)}, line {block.line}"


@pytest.mark.parametrize(
    "page", [p for p in pages_with("console") if {"how-to", "explanation"}.isdisjoint(p.parts)], ids=name_of
)
def test_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """Every line after `$` runs, in an empty folder, and prints what the page shows; `...` stands for any lines.

    A block with a title is a file of that name.
    """
    programs, folder = tmp_path / "bin", tmp_path / "work"
    for place in (programs, folder):
        place.mkdir()
    for name, arguments in (("keepsense", " -m keepsense"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        (programs / name).chmod(0o755)
    for block in blocks(page):
        if block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "KEEPSENSE_HOME": str(tmp_path / "home"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    for command, shown in commands(page):
        run = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{command}: {run.stderr}"
        pattern = r"(?s:.*)".join(re.escape(part) for part in shown.split("...\n"))
        assert re.fullmatch(pattern, trimmed(run.stdout)), f"{command} printed\n{run.stdout}"


def test_the_index_of_how_to_pages_lists_each_once_under_a_task() -> None:
    folder = ROOT / "docs" / "how-to"
    _, *tasks = re.split(r"^## ", (folder / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    linked = [page for task in tasks for page in re.findall(r"\]\(([\w-]+\.md)\)", task)]
    pages = sorted(page.name for page in folder.glob("*.md") if page.name != "index.md")
    assert sorted(linked) == pages, "put a new page under its task in docs/how-to/index.md"
    assert len(tasks) >= 5


def test_rows_shown_before_and_after_are_those_of_the_example() -> None:
    """The first page shows records of the sample and of what its example releases, and the docs home the same ones."""
    readme = ROOT / "README.md"
    names: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()):
        exec(next(block.text for block in blocks(readme) if block.kind == "python"), names)
    shown = re.findall(r"^\| sex \|.*\n(?:\|.*\n)+", readme.read_text(encoding="utf-8"), re.MULTILINE)
    tables = [
        [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()[2:]]
        for table in shown
    ]
    assert [len(table) for table in tables] == [3, 3]
    for table, frame in zip(tables, (names["frame"], names["release"].frame), strict=True):
        rows = {tuple(map(str, row.values())) for row in frame.to_pylist()}
        assert rows.issuperset(table)
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert all(f"| {' | '.join(row)} |" in home for table in tables for row in table)


def test_the_readme_has_a_short_library_example_and_commands() -> None:
    readme = ROOT / "README.md"
    first = next(block for block in blocks(readme) if block.kind == "python")
    assert len(first.text.strip().splitlines()) <= 10
    assert ast.parse(first.text).body
    assert any(command.startswith("keepsense") for command, _ in commands(readme))
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", readme.read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), f"README.md links to {target}, which is not there"


# ---- what people type besides ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["benchmarks", "experiments"])
def test_benchmarks_and_experiments_are_listed(module: str) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", module, "list"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert listed.stderr == ""
    unknown = subprocess.run(
        [sys.executable, "-m", module, "run", "nonsense"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert "nonsense" in unknown.stderr


def test_an_experiment_is_found_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = importlib.import_module("experiments.__main__")
    folder = tmp_path / "experiments" / "tiny"
    folder.mkdir(parents=True)
    (folder / "run.py").write_text('"""A tiny one.\n\nMore."""\ndef run(results):\n    (results / "x.csv").touch()\n')
    monkeypatch.setattr(runner, "HERE", folder.parent)
    assert runner.names() == {"tiny": "A tiny one."}
