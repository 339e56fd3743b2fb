"""The list of privacy models: what is derived from it, and that nobody else compares their names."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import keepsense
from keepsense.errors import BadInput
from keepsense.methods.method import METHODS
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity, LDiversity, RecursiveDiversity
from keepsense.privacy.privacy_model import PRIVACY, model, models
from keepsense.privacy.t_closeness import TCloseness


@pytest.mark.parametrize("name", models())
def test_every_model_says_what_it_promises_and_when_to_choose_it(name):
    entry = PRIVACY[name]
    for words in (entry.promises, entry.choose, entry.paper):
        assert words
        assert not words.endswith(".")
    assert entry.model.name == name
    assert ">>>" in (entry.model.__doc__ or "")


@pytest.mark.parametrize("name", models())
def test_the_schema_of_a_promise_takes_what_the_class_takes(name):
    entry = PRIVACY[name]
    schema = json.loads(json.dumps(entry.schema()))
    assert schema["properties"]["model"] == {"const": name}
    assert set(schema["properties"]) - {"model"} == set(entry.parameters())
    assert set(schema["required"]) <= set(schema["properties"])
    for key, parameter in schema["properties"].items():
        assert key == "model" or parameter["type"] in ("integer", "number", "string", "array")


def test_parameters_follow_the_class():
    assert list(PRIVACY["l-diversity"].parameters("recursive")) == ["form", "c", "l", "column", "missing", "beside"]
    assert list(PRIVACY["l-diversity"].parameters("distinct")) == ["form", "l", "column", "missing", "beside"]
    assert PRIVACY["t-closeness"].schema()["required"] == ["model", "t", "column"]
    assert PRIVACY["k-map"].schema()["required"] == ["model", "k"]
    with pytest.raises(BadInput, match="needs the parameter column"):
        model("t-closeness", t=0.2)
    with pytest.raises(BadInput, match="takes no parameter 'about'"):
        model("k-anonymity", k=2, about="mechanism")
    with pytest.raises(BadInput, match="takes no parameter 'c'"):
        model("l-diversity", l=2, c=2.0, column="d")


def test_a_model_may_learn_its_column_later():
    assert LDiversity(2).on("d") == DistinctDiversity(2, "d")
    assert LDiversity(1.5, form="entropy").on("d") == EntropyDiversity(1.5, "d")
    assert LDiversity(2, form="recursive", c=3).on("d") == RecursiveDiversity(3, 2, "d")
    assert TCloseness(0.2).on("d").promise() == TCloseness(0.2, "d").promise()
    for wrong in (lambda: LDiversity(0), lambda: LDiversity(2, form="recursive"), lambda: LDiversity(2.5)):
        with pytest.raises(BadInput):
            wrong()
    with pytest.raises(BadInput, match="say which"):
        TCloseness(0.2).satisfied([1], {})


def test_what_others_ask_of_a_model():
    assert [name for name in models() if PRIVACY[name].model.about == "mechanism"] == [
        name for name in models() if "about" in _any(name).promise()
    ]
    assert {name for name in models() if not PRIVACY[name].model.kept_by_classes} == {
        "approximate differential privacy",
        "differential privacy",
        "linkage risk",
    }
    assert [model("maximum risk", threshold=t).least_size for t in (0.2, 0.3, 0.09, 1.0)] == [5, 4, 12, 1]
    assert KAnonymity(7).least_size == 7
    assert model("average risk", threshold=0.2).least_size is None
    assert {name for name in models() if _any(name).covers_every_column} == {
        "approximate differential privacy",
        "differential privacy",
    }


@pytest.mark.parametrize("name", models())
def test_every_model_is_explained_and_can_be_chosen(name):
    docs = Path(__file__).parents[2] / "docs"
    explained = (docs / "explanation" / "privacy-models.md").read_text(encoding="utf-8").lower()
    assert f"*{name.lower()}*" in explained
    table = (docs / "how-to" / "choose-privacy-model.md").read_text(encoding="utf-8")
    for form in PRIVACY[name].forms:
        assert f"`{form.__name__}(" in table


def _any(name):
    """A model with some parameters."""
    some = {"integer": 2, "number": 1, "string": "text"}
    entry = PRIVACY[name]
    form = entry.model.form
    chosen = {key: some[parameter.kind] for key, parameter in entry.parameters(form).items() if entry.required(key)}
    return entry.make(**chosen, **({"form": form} if form else {}))


OTHERS = {
    ("commands/command_registry.py", "average risk"),  # a key of what the comparison of projects writes
    ("commands/compare_command.py", "average risk"),  # a heading of the table that compares projects
    ("api.py", "k-anonymity"),  # what a user would say: the default of a public function
    *(  # what another tool's models are called here
        ("draft/arx_project.py", name)
        for name in (
            "k-anonymity",
            "l-diversity",
            "t-closeness",
            "delta-disclosure",
            "beta-likeness",
            "average risk",
            "strict-average risk",
        )
    ),
}


def test_no_other_file_holds_the_name_of_a_model():
    """Who needs to know something of a model asks the model; method and model may share a name."""
    source = Path(keepsense.__file__).parent
    names = set(models()) - set(METHODS)
    literals = {
        (path.relative_to(source).as_posix(), node.value)
        for path in source.rglob("*.py")
        if path.relative_to(source).parts[0] not in ("privacy", "verification")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    }
    assert literals <= OTHERS
