"""A method is told once: beside its algorithm. Nothing else asks what it is called."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest
from tests.conftest import ROOT

from keepsense.errors import BadInput, InputWarning
from keepsense.methods.method import METHODS, Method, method, methods
from keepsense.methods.method_call import call
from keepsense.registry import Registry, plain
from keepsense.release.example import example_job

SOURCE = ROOT / "src" / "keepsense"
FAMILIES = {"sampling", "local suppression", "differential privacy", "post-randomization"}
"""Methods that are families, too, or have the name of the promise they keep."""
NAMES = {plain(name): found for found in methods() for name in (found.name, *found.aliases)}
DEFAULTS = {SOURCE / "project" / "project_file.py": {"optimal", "set microaggregation"}}
"""What project files mean when they do not say."""


def compared(tree: ast.AST) -> set[str]:
    """Texts that something is compared with."""
    sides: list[ast.expr] = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                sides += [node.left, *node.comparators]
            case ast.MatchValue():
                sides.append(node.value)
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith")):
                sides += node.args
    texts = [text for side in sides for text in ast.walk(side) if isinstance(text, ast.Constant)]
    return {text.value for text in texts if isinstance(text.value, str)}


def every_literal(tree: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def entered_in(found: Method) -> Path:
    return Path(str(import_module(found.function.__module__).__file__))


def test_no_file_but_its_own_decides_by_a_methods_name(subtests: pytest.Subtests) -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        with subtests.test(path=str(path.relative_to(SOURCE))):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            # a single word may be any word, unless something is compared with it; several words are a method anywhere
            several = {text for text in every_literal(tree) if " " in text or "-" in text}
            named = {NAMES[plain(text)] for text in several | compared(tree) if plain(text) in NAMES}
            # relations in the catalogue tell people of other methods, and nothing asks them
            related = {
                call.args[0].value
                for call in ast.walk(tree)
                if isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id == "Relation"
                and isinstance(call.args[0], ast.Constant)
            }
            foreign = {found.name for found in named if entered_in(found) != path}
            assert foreign - FAMILIES - related - DEFAULTS.get(path, set()) == set(), "ask the Method instead"


def test_the_papers_names_lead_to_the_methods() -> None:
    assert [method(name).name for name in ("SRS-1", "srs-2", "SRS 3")] == [
        "rank swapping by one ranking",
        "rank swapping",
        "rank swapping of tuples",
    ]
    named = {name: method(name) for name in ("SNA-1", "sna_2", "SNA-Algorithm 3", "Correlated-SNA-Algorithm1")}
    assert [(found.name, found.settings["reference"]) for found in named.values()] == [
        ("noise", "mean"),
        ("correlated noise", "partner"),
        ("correlated noise", "root"),
        ("correlated noise", "mean"),
    ]
    assert method("PRAM").name == "post-randomization"
    assert method("MDAV").name == "microaggregation of records"


def test_an_outdated_name_works_and_says_the_new_one() -> None:
    own: Registry[Method] = Registry("method")
    own.add("datafly", METHODS["datafly"], outdated=("first fly",))
    with pytest.warns(InputWarning, match="is called 'datafly' now"):
        assert own["First-Fly"] is METHODS["datafly"]


def test_what_project_files_cannot_name_is_refused() -> None:
    with pytest.raises(BadInput, match="use it from Python"):
        method("sampling").run(None, {})  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="no method for sets"):
        method("datafly").run_on_sets(None, "x", None, {})  # type: ignore[arg-type]


def test_methods_tell_what_they_can_keep() -> None:
    """What the guide advises to promise, and what a report compares with."""
    assert all(found.promises for found in methods() if found.keeps is not None)
    assert [found.name for found in methods() if found.alternative is not None and not found.truthful] == []
    places = [found.alternative for found in methods() if found.alternative is not None]
    assert sorted(places) == list(range(1, len(places) + 1))


def test_an_outdated_parameter_is_understood() -> None:
    with pytest.warns(InputWarning, match="'measure' is called 'metric' now"):
        assert call(lambda counts, *, metric="loss": metric, {"measure": "ncp"}, None) == "ncp"
    with pytest.raises(BadInput, match="takes no parameter 'measure'"):
        call(lambda counts, *, k=2: k, {"measure": "ncp"}, None)


@pytest.mark.parametrize("name", sorted(found.name for found in methods() if not found.in_projects))
def test_what_project_files_cannot_name_says_so_also_where_it_is_for_sets(name: str) -> None:
    with pytest.raises(BadInput, match="project files cannot name"):
        method(name).run(example_job(), {})
