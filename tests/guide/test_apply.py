"""Advice goes into a project file line by line, and nothing else in it changes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.draft.inspection import inspect
from keepsense.draft.project_text import draft
from keepsense.errors import BadInput
from keepsense.methods.method import methods
from keepsense.project.toml_editor import changed, difference, spelled, write

FILE = """# my project
unlisted = "drop"  # by hand

[source]
path = "people.csv"

[[privacy]]
model = "k-anonymity"  # our rule
k = 5

[[privacy]]
model = "l-diversity"
l = 2
column = "ill"

# how
[method]
name = "optimal"  # proven
# a note of mine
[method.parameters]
time_limit = 30  # seconds

[columns.job]
role = "quasi-identifier"  # others know it

[columns.ill]
role = "sensitive"
"""


def test_the_method_changes_and_nothing_else() -> None:
    new = changed(FILE, method="noise", parameters={"alpha": 0.3, "reference": "mean"})
    data, was = tomllib.loads(new), tomllib.loads(FILE)
    assert data.pop("method") == {"name": "noise", "parameters": {"alpha": 0.3, "reference": "mean"}}
    was.pop("method")
    assert data == was
    for comment in ("# my project", "# by hand", "# our rule", "# how", "# a note of mine", "# others know it"):
        assert comment in new
    assert "time_limit" not in new
    assert changed(new, method="noise", parameters={"alpha": 0.3, "reference": "mean"}) == new


def test_promises_and_roles_change_where_they_stand() -> None:
    risk = [{"model": "maximum risk", "threshold": 0.09}]
    new = changed(FILE, privacy=risk, roles={"ill": "insensitive", "job": "quasi-identifier"})
    data = tomllib.loads(new)
    assert data["privacy"] == risk
    assert data["columns"]["ill"]["role"] == "insensitive"
    assert new.index("[[privacy]]") < new.index("# how") < new.index("[method]")
    assert "# others know it" in new, "a role that stays keeps its line"


def test_a_method_for_sets_gets_a_section() -> None:
    assert (
        tomllib.loads(changed(FILE, set_method="set microaggregation"))["set_method"]["name"] == "set microaggregation"
    )


def test_the_difference_is_shown() -> None:
    shown = difference(FILE, changed(FILE, method="mondrian"), "keepsense.toml")
    assert '-name = "optimal"  # proven' in shown
    assert '+name = "mondrian"' in shown
    assert "path" not in shown


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FILE.replace("[method]", "[ method ]").replace('name = "optimal"  # proven', '"name" = "optimal"'), ""),
        (FILE.replace('name = "optimal"  # proven', 'name = """\\\noptimal"""'), "cannot be changed line by line"),
        (FILE.replace("[columns.job]", "[columns.job"), "keepsense.toml"),
        ('method.name = "optimal"\n' + FILE[: FILE.index("# how")], "cannot be changed line by line"),
    ],
)
def test_what_is_written_oddly_is_changed_rightly_or_refused(text: str, reason: str) -> None:
    if not reason:
        assert tomllib.loads(changed(text, method="mondrian"))["method"] == {"name": "mondrian"}
        return
    with pytest.raises(BadInput, match=reason):
        changed(text, method="mondrian")


def test_what_no_project_file_may_say_is_refused() -> None:
    with pytest.raises(BadInput, match="no method is called"):
        changed(FILE, method="mondrien")
    with pytest.raises(BadInput, match="no section"):
        changed(FILE, roles={"jop": "identifier"})
    with pytest.raises(BadInput, match="promise"):
        changed(FILE, privacy=[])


@pytest.mark.parametrize("name", sorted(found.name for found in methods(in_projects=True)))
def test_every_method_can_be_written_into_a_draft(name: str, tmp_path: Path) -> None:
    jobs = {"job": ["nurse", "clerk"] * 9, "a column, oddly = [named]": [1, 2] * 9}
    text = draft(inspect(jobs), source={"path": "people.csv"})
    path = tmp_path / "keepsense.toml"
    project = write(
        path, changed(text, method=name, parameters={"k": 3}, roles={"a column, oddly = [named]": "identifier"})
    )
    assert (project.method.name, project.method.parameters) == (name, {"k": 3})
    assert project.columns["a column, oddly = [named]"].role == "identifier"
    assert [p.name for p in tmp_path.iterdir()] == ["keepsense.toml"]


VALUES = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.floats(-5, 5).map(lambda x: round(x, 3)) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=4), inner, max_size=2),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(value=VALUES)
def test_values_are_spelled_as_toml_reads_them(value: object) -> None:
    assert tomllib.loads(f"value = {spelled(value)}")["value"] == value
