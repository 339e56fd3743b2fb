"""The catalogue must match the code: names, functions, templates and the parameters algorithms fill in."""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from keepsense import methods
from keepsense.counts import Counts
from keepsense.guide.catalogue import catalogue, children, entry, flowchart, function
from keepsense.guide.catalogue_text import as_data, as_page, as_text
from keepsense.lessons.lesson import example
from keepsense.methods import generalize, microaggregate, perturb, sets
from keepsense.methods.generalize import multidimensional_template, table_template
from keepsense.methods.method import Described, method
from keepsense.methods.method import methods as every_method
from keepsense.methods.method_flowchart import Flowchart
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.registry import plain

EVERY = list(catalogue().values())
TEMPLATES = {"coarse_lattice:lattice_search", "table_template:recode", "individual_ranking:column_by_column"}
"""What several methods share, called as they are."""
NINE = {
    "table recoding": {"datafly", "mu-argus", "bottom-up", "top-down"},
    "lattice recoding": {"samarati", "incognito"},
    "multidimensional recoding": {"mondrian", "infogain mondrian", "lsd mondrian"},
}


def test_a_method_carries_one_name(subtests: pytest.Subtests) -> None:
    """In project files, in the catalogue and in Python."""
    for found in every_method():
        with subtests.test(name=found.name):
            assert entry(found.name) is method(found.name) is found
            assert plain(found.function.__name__) == plain(found.name)


def test_methods_are_called_alike(subtests: pytest.Subtests) -> None:
    for found in every_method():
        with subtests.test(name=found.name):
            parameters = list(inspect.signature(found.function).parameters.values())
            assert all(one.kind is one.KEYWORD_ONLY for one in parameters[3:])
            names = [one.name for one in parameters[:3]]
            assert names in [["counts", "hierarchies", "models"], ["counts", "columns", "models"]]


def test_project_files_and_the_catalogue_read_names_alike(subtests: pytest.Subtests) -> None:
    for name, joint in product(sorted(found.name for found in every_method()), " -_"):
        with subtests.test(name=name, joint=joint):
            spelled = name.replace("-", " ").replace(" ", joint).title()
            assert entry(spelled).name == method(spelled).name == name


def test_every_function_with_the_signature_of_a_method_is_described() -> None:
    described = {e.code for e in EVERY if e.code}
    rooms = [generalize, microaggregate, perturb, sets]
    modules = [f"{room.__name__}.{found.name}" for room in rooms for found in pkgutil.iter_modules(room.__path__)]
    functions = [
        f"{function.__module__}:{name}"
        for module in modules
        for name, function in inspect.getmembers(import_module(module), inspect.isfunction)
        if function.__module__ == module
        and not name.startswith("_")
        and [*inspect.signature(function).parameters][:3]
        in (["counts", "hierarchies", "models"], ["counts", "columns", "models"])
    ]
    assert len(functions) > 30
    undescribed = {function.rpartition(".")[2] for function in set(functions) - described}
    assert undescribed == TEMPLATES, "each needs a Method in its module"


def test_the_code_an_entry_names_is_there(subtests: pytest.Subtests) -> None:
    for found in [e for e in EVERY if e.code]:
        with subtests.test(name=found.name):
            assert callable(function(found))
            assert found.code is not None
            assert found.code.startswith(methods.__name__)


def test_the_nine_algorithms_are_grouped_as_in_the_paper() -> None:
    grouped = {name: {e.name for e in children(name) if e.nine} for name in NINE}
    assert grouped == NINE
    assert sum(e.nine for e in EVERY) == 9


def test_an_entry_is_whole(subtests: pytest.Subtests) -> None:
    for found in EVERY:
        with subtests.test(name=found.name):
            for text in (found.intent, found.guarantee, found.cost, found.paper, found.example, found.short):
                assert text
            assert found.use
            assert found.inputs
            assert found.family is None or found.family in catalogue()
            related = [r.name for r in (*found.combines, *found.conflicts)]
            assert set(related) <= set(catalogue())
            assert len(set(related)) == len(related), "an entry cannot both combine and conflict with another"
            chart = flowchart(found.name)
            if found.kind == "algorithm":
                assert not chart.parameters, "an algorithm fills in every parameter of its category"
                parent = entry(found.family or "")
                if found.steps is None:
                    assert set(found.fillings) == set(flowchart(parent.name).parameters)
            assert as_data(found)["name"] == found.name
            assert found.title in as_text(found)


def test_techniques_say_what_they_go_with() -> None:
    for found in EVERY:
        if found.kind == "technique":
            assert found.combines or found.conflicts, found.name


def test_conflicts_hold_both_ways_between_techniques() -> None:
    pairs = {(e.name, r.name) for e in EVERY if e.kind == "technique" for r in e.conflicts}
    combined = {(e.name, r.name) for e in EVERY if e.kind == "technique" for r in e.combines}
    clash = {(a, b) for a, b in pairs if (b, a) in combined}
    assert not clash, "one side says they go together, the other that they do not"


# ---- flowcharts ------------------------------------------------------------------------------------------------------


def test_a_flowchart_leads_from_start_to_end(subtests: pytest.Subtests) -> None:
    for found in [e for e in EVERY if e.steps]:
        with subtests.test(name=found.name):
            chart = found.steps
            assert isinstance(chart, Flowchart)
            assert chart.nodes[0].kind == "start"
            assert any(node.kind == "end" for node in chart.nodes)
            reached, front = set(), [chart.nodes[0].key]
            while front:
                key = front.pop()
                if key not in reached:
                    reached.add(key)
                    front += [edge.end for edge in chart.edges if edge.start == key]
            assert reached == {node.key for node in chart.nodes}
            for node in chart.nodes:
                out = [edge for edge in chart.edges if edge.start == node.key]
                if node.kind == "end":
                    assert not out
                elif node.kind == "question":
                    assert {edge.label for edge in out} == {"yes", "no"}
                else:
                    assert len(out) == 1


@pytest.mark.parametrize("name", [*NINE, "local recoding"])
def test_a_category_makes_every_part_of_the_technique_concrete(name: str) -> None:
    parts = {node.key for node in flowchart("generalization").nodes if node.kind in ("step", "question")}
    assert {node.part for node in flowchart(name).nodes if node.part} == parts


def test_parameters_of_the_flowcharts_are_those_of_the_templates() -> None:
    assert set(flowchart("table recoding").parameters) <= set(inspect.signature(table_template.recode).parameters)
    assert set(flowchart("multidimensional recoding").parameters) <= set(
        inspect.signature(multidimensional_template.divide).parameters
    )
    assert "metric" in flowchart("lattice recoding").parameters


# ---- what algorithms fill in -----------------------------------------------------------------------------------------


def filled_in(found: Described, template: str, monkeypatch: pytest.MonkeyPatch, **given: Any) -> dict[str, Any]:
    """Arguments an algorithm gives to its template, defaults included."""
    assert found.code is not None
    module = import_module(found.code.split(":")[0])
    real = getattr(module, template)
    seen: dict[str, Any] = {}

    def spy(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(real).bind(*args, **kwargs)
        bound.apply_defaults()
        seen.update(bound.arguments)
        return real(*args, **kwargs)

    monkeypatch.setattr(module, template, spy)
    lesson = example()
    function(found)(lesson.counts, lesson.hierarchies, models=[KAnonymity(2)], **given)
    assert seen, f"{found.name} does not use the template"
    return seen


@pytest.mark.parametrize(
    ("name", "given"),
    [("datafly", {}), ("bottom-up", {"target": "ill"}), ("top-down", {"target": "ill"})],
)
def test_table_recodings_fill_in_what_the_catalogue_says(
    name: str, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = entry(name)
    seen = filled_in(found, "recode", monkeypatch, **given)
    values = {key: filling.value for key, filling in found.fillings.items()}
    assert seen["direction"] == values["direction"]
    assert seen["candidates"] == values["candidates"]
    assert seen["stop"] == values["stop"]
    made = seen["metric"]
    named = made.__name__ if made is table_template.distinct_values else made.__qualname__.split(".")[0]
    assert named == values["metric"]
    few = seen["suppress_at_most"] == 2
    assert few == (values["suppression"] == "at most k")


def test_semantic_datafly_fills_in_what_the_catalogue_says(monkeypatch: pytest.MonkeyPatch) -> None:
    found = entry("semantic datafly")
    seen = filled_in(found, "datafly", monkeypatch, distances={})
    assert seen["metric"].__qualname__.split(".")[0] == found.fillings["metric"].value
    plain = entry("datafly").fillings
    assert all(found.fillings[key] == plain[key] for key in plain if key != "metric")


def test_mu_argus_raises_whole_levels_from_the_table_up() -> None:
    values = {key: filling.value for key, filling in entry("mu-argus").fillings.items()}
    lesson = example()
    found = function(entry("mu-argus"))(lesson.counts, lesson.hierarchies, k=2)
    assert all(isinstance(level, int) for level in found.info["levels"].values())
    assert (values["direction"], values["candidates"]) == ("up", "levels")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("mondrian", {"numbers": ["age"]}),
        ("infogain mondrian", {"numbers": ["age"], "target": "ill"}),
        ("lsd mondrian", {"numbers": ["age"], "target": "days"}),
        ("semantic mondrian", {"numbers": ["age"]}),
    ],
)
def test_multidimensional_recodings_fill_in_what_the_catalogue_says(
    name: str, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = entry(name)
    seen = filled_in(found, "divide", monkeypatch, **given)
    values = {key: filling.value for key, filling in found.fillings.items()}
    called = getattr(seen["score"], "__name__", type(seen["score"]).__name__)
    assert called.replace("_", "").lower() == values["score"].replace("_", "")
    assert {key: seen[key] for key in ("order", "branches", "relaxed", "gain")} == {
        key: values[key] for key in ("order", "branches", "relaxed", "gain")
    }


@pytest.mark.parametrize(
    ("name", "template"),
    [("samarati", "LatticeSearch"), ("incognito", "LatticeSearch"), ("optimal", "lattice_search")],
)
def test_lattice_recodings_use_the_one_search(name: str, template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = filled_in(entry(name), template, monkeypatch)
    assert seen["metric"] == "loss"


def test_samarati_finds_the_lowest_height_and_optimal_the_least_loss() -> None:
    lesson = example()
    counts: Counts = lesson.counts
    low = function(entry("samarati"))(counts, lesson.hierarchies, k=2)
    best = function(entry("optimal"))(counts, lesson.hierarchies, k=2)
    every = function(entry("incognito"))(counts, lesson.hierarchies, k=2)
    assert sum(low.info["node"]) == min(map(sum, every.info["anonymous"]))
    assert best.info["loss"] <= low.info["loss"]


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_page_of_the_documentation_has_every_entry() -> None:
    headings = re.findall(r"^#+ (.*)$", as_page(), re.MULTILINE)
    assert not {described.title for described in EVERY} - set(headings)


def test_unknown_names_get_a_hint() -> None:
    from keepsense.errors import BadInput

    with pytest.raises(BadInput, match="Did you mean mondrian"):
        entry("mondrain")
