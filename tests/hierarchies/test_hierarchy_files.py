"""Hierarchies in files: ARX's CSV byte for byte, XML without surprises, JSON, indented text."""

from __future__ import annotations

import datetime
import json
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.hierarchies.trees import hierarchies, trees

from keepsense.errors import BadHierarchy, BadInput, InputWarning
from keepsense.hierarchies.formats.aika_xml import format_xml, parse_xml, read_xml, write_xml
from keepsense.hierarchies.formats.arx_csv import CsvForm, format_arx, parse_arx, read_arx, write_arx
from keepsense.hierarchies.formats.hierarchy_formats import DEEPEST, FORMATS, read_hierarchy, write_hierarchy
from keepsense.hierarchies.formats.indented_text import format_tree, parse_tree, read_tree, write_tree
from keepsense.hierarchies.formats.json_hierarchy import format_json, parse_json, read_json, write_json
from keepsense.hierarchies.hierarchy import Hierarchy, signature
from keepsense.hierarchies.hierarchy_builder import with_missing
from keepsense.hierarchies.hierarchy_checks import check
from keepsense.hierarchies.hierarchy_scores import score
from keepsense.hierarchies.hierarchy_tree import POLICIES, Tree, to_hierarchy
from keepsense.hierarchies.word_concepts import with_concepts
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges

JOBS = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "clerk", "*")], name="job")
LABEL = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=6).filter(lambda s: s.strip())


# ---- ARX ------------------------------------------------------------------------------------------------------------


@pytest.mark.data
def test_the_adult_hierarchies_round_trip_byte_for_byte(shared_data: Path, tmp_path: Path) -> None:
    files = sorted((shared_data / "adult").glob("adult_hierarchy_*.csv"))
    assert len(files) == 9
    for file in files:
        write_arx(read_arx(file), tmp_path / file.name)
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize(
    "text",
    [
        "a;x;*\nb;x;*\n",
        "a;x;*\nb;x;*",
        "a;x;*\r\nb;x;*\r\n",
        '"a";"x";"*"\n"b";"x";"*"\n',
        '\ufeffa;"x;y";*\nb;"x;y";*\n',
        'a;"say ""x""";*\n',
    ],
)
def test_any_form_is_written_back_as_it_was(text: str) -> None:
    assert format_arx(parse_arx(text)) == text


@settings(max_examples=40, deadline=None)
@given(
    st.lists(LABEL, min_size=1, max_size=6, unique=True),
    st.sampled_from([CsvForm(), CsvForm(",", "\r\n", False, True)]),
)
def test_labels_of_any_text_survive_csv(labels: list[str], form: CsvForm) -> None:
    hierarchy = Hierarchy.of_rows([(label, "*") for label in labels])
    back = parse_arx(format_arx(hierarchy, form=form), delimiter=form.delimiter)
    assert back.rows() == hierarchy.rows()


def test_ragged_lines_are_refused_with_their_numbers_or_repeated() -> None:
    text = "nurse;medic;*\nclerk;*\n"
    with pytest.raises(BadHierarchy, match=r"E302 job: 1 of 2 rows .* \(line 2\)"):
        parse_arx(text, name="job")
    assert parse_arx(text, ragged="repeat").rows()[1] == ("clerk", "clerk", "*")


def test_leaves_are_converted_to_the_columns_own_values() -> None:
    assert parse_arx("1;0-4;*\n2;0-4;*\n", convert=int).leaves == (1, 2)
    with pytest.raises(BadHierarchy, match="cannot be converted") as caught:
        parse_arx("secret;0-4;*\n", convert=int)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", 'a;"x\n', "a;x\na;y\n", "a;\n"])
def test_broken_csv_is_refused(text: str) -> None:
    with pytest.raises(BadHierarchy):
        parse_arx(text)


def test_lines_that_repeat_word_for_word_count_once_with_a_warning() -> None:
    with pytest.warns(InputWarning, match=r"job: 2 line\(s\) repeat an earlier one .* \(line 3, 4\)"):
        read = parse_arx("nurse;medic;*\nclerk;office;*\nnurse;medic;*\nnurse;medic;*\n", name="job")
    assert read.rows() == [("nurse", "medic", "*"), ("clerk", "office", "*")]


@pytest.mark.parametrize("line", [";(missing);*", " ;(missing);*", ";;*"])
def test_a_line_for_the_empty_value_is_the_missing_value(line: str, tmp_path: Path) -> None:
    read = parse_arx(f"nurse;medic;*\n{line}\n")
    label = "(missing)" if "(" in line else None
    assert read.rows() == [("nurse", "medic", "*"), (None, label, "*")]
    assert with_missing(read, {"nurse": 2, None: 1}) is read
    assert parse_arx(f"1;odd;*\n{line}\n", convert=int).leaves == (1, None)
    write_arx(read, tmp_path / "job.csv")
    assert read_arx(tmp_path / "job.csv").rows() == read.rows()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nurse;medic;*\n\nclerk;office;*\nnurse;office;*\n", r"E303 job: 1 leaf value.* \(lines 1 and 4\)"),
        (
            'nurse;medic;health;*\nclerk;"of\nfice";staff;*\nsurgeon;medic;staff;*\n',
            r"E304 job: 1 label.* level 1 .* level 2 \(medic; lines 1 and 4\)",
        ),
        ("nurse;medic;*\n;medic;*\n;other;*\n", r"E303 job: 1 leaf value.* \(lines 2 and 3\)"),
    ],
)
def test_lines_that_contradict_each_other_are_named(text: str, message: str) -> None:
    with pytest.raises(BadHierarchy, match=message) as caught:
        parse_arx(text, name="job")
    assert "nurse" not in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadHierarchy, match=r"none\.csv: the file cannot be read"):
        read_arx(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9;*\n")
    with pytest.raises(BadHierarchy, match=r"latin\.csv: not UTF-8"):
        read_arx(tmp_path / "latin.csv")


def test_a_file_in_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadHierarchy, match="cannot be written"):
        write_arx(JOBS, tmp_path / "none" / "job.csv")


# ---- XML ------------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(trees())
def test_trees_survive_xml_and_text(tree: Tree) -> None:
    hierarchy = to_hierarchy(tree)
    assert signature(parse_xml(format_xml(hierarchy))) == signature(hierarchy)
    assert signature(parse_tree(format_tree(hierarchy))) == signature(hierarchy)


PETS = from_edges([(name, "feline") for name in ("cat", "lion", "tiger", "puma")]
                  + [(name, "animal") for name in ("feline", "dog", "ant", "eagle", "carp", "newt")])  # fmt: skip


@st.composite
def padded_in_any_way(draw: st.DrawFn) -> Hierarchy:
    """A hierarchy of words, padded by any policy; a label may be that of the level above it, too."""
    tree = draw(trees())
    words = draw(st.permutations([*PETS.ids]))
    labels = [word or label for word, label in zip_longest(words[: len(tree)], tree.labels)]
    for below in tree.children.values():
        heirs = [child for child in below if child >= tree.n_leaves][: draw(st.integers(0, 1))]
        for child in heirs:
            labels[child] = labels[int(tree.parent[child])]
    made = Tree(tuple(labels), tree.parent, tree.n_leaves)
    hierarchy = to_hierarchy(made, name="pet", policy=draw(st.sampled_from(POLICIES)))
    assume(not any(finding.is_error for finding in check(hierarchy)))
    return hierarchy


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=100, deadline=None)
@example(Hierarchy.of_rows([("eagle", "animal", "animal", "animal")], name="pet"))
@given(padded_in_any_way())
def test_every_format_gives_back_levels_concepts_and_gsl(form: str, hierarchy: Hierarchy) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"pet{FORMATS[form].endings[0]}"
        write_hierarchy(hierarchy, file)
        back = read_hierarchy(file)
    assert sorted(back.rows()) == sorted(hierarchy.rows())
    known = [with_concepts(each, PETS, unknown="list") for each in (hierarchy, back)]
    assert len({frozenset(named(each)) for each in known}) == 1
    if any(hierarchy.height and (each.concepts[0] >= 0).any() for each in known if each.concepts is not None):
        first, second = (score(each, distance("wu-palmer", PETS), unknown="list").total for each in known)
        assert first == pytest.approx(second)


def named(hierarchy: Hierarchy) -> set[tuple[int, object, int]]:
    """The labels of every level with their concepts."""
    return {
        (level, label, int(concept))
        for level, labels in enumerate(hierarchy.labels)
        for label, concept in zip(labels, hierarchy.concept_codes(level), strict=True)
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(LABEL, min_size=1, max_size=6, unique=True))
def test_labels_of_any_text_survive_xml_text_and_json(labels: list[str]) -> None:
    hierarchy = Hierarchy.of_rows([(label, "ROOT OF ALL") for label in labels])
    for back in (
        parse_xml(format_xml(hierarchy)),
        parse_tree(format_tree(hierarchy)),
        parse_json(format_json(hierarchy)),
    ):
        assert back.rows() == hierarchy.rows()


LAUGHS = """<?xml version="1.0"?><!DOCTYPE vgh [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><vgh value="&c;"><node value="x"/></vgh>"""


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        '<!DOCTYPE vgh><vgh value="a"><node value="x"/></vgh>',
        '<!DOCTYPE vgh SYSTEM "http://example.org/a.dtd"><vgh value="a"/>',
        '<!DOCTYPE vgh [<!ENTITY e SYSTEM "file:///etc/hostname">]><vgh value="a"><node value="&e;"/></vgh>',
        '<!DOCTYPE vgh [<!ENTITY % p "x">]><vgh value="a"/>',
    ],
)
def test_xml_with_a_document_type_or_entities_is_refused(text: str) -> None:
    with pytest.raises(BadHierarchy, match="declares a document type or entities"):
        parse_xml(text, file="job")


def test_an_undeclared_entity_is_refused() -> None:
    with pytest.raises(BadHierarchy, match="not well-formed"):
        parse_xml('<vgh value="&nbsp;"/>')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<vgh value='a'>", "not well-formed XML"),
        ("<vgh/>", "has no value"),
        ("<x/>", "holds no vgh"),
        ("<vgh value='a'><leaf value='b'/></vgh>", "unknown element 'leaf'"),
        ("<vgh value='a'><vgh value='b'/></vgh>", "inside another"),
        ("<x><node value='a'/></x>", "outside a vgh"),
        ("<vgh value='a'>" + "<node value='b'>" * 300 + "</node>" * 300 + "</vgh>", "more than 200 levels"),
        ("<vgh value='a'><node value='b'/><node value='b'/></vgh>", "E303"),
        ("<vgh value='a'><node value=''/></vgh>", "E306"),
    ],
)
def test_broken_xml_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadHierarchy, match=message):
        parse_xml(text)


def test_one_hierarchy_of_a_whole_configuration_is_chosen_by_name() -> None:
    text = """<config k="5"><qid>
      <att index="0" name="job"><vgh value="*"><node value="nurse"/></vgh></att>
      <att index="1" name="place"><vgh value="*"><node value="farm"/><node value="sea"/></vgh></att></qid></config>"""
    assert parse_xml(text, name="place").leaves == ("farm", "sea")
    with pytest.raises(BadHierarchy, match=r"2 hierarchies \(job, place\)"):
        parse_xml(text)


def test_a_configuration_with_numbered_values_says_what_to_do() -> None:
    text = "<att name='sex'><map><entry cat='m' int='0'/></map><vgh value='[0:1]'/></att>"
    with pytest.raises(BadHierarchy, match="intervals over numbered values"):
        parse_xml(text)


def test_xml_needs_one_root_and_no_control_characters() -> None:
    with pytest.raises(BadHierarchy, match="2 roots"):
        format_xml(Hierarchy.of_rows([("a", "x"), ("b", "y")]))
    with pytest.raises(BadHierarchy, match="control character"):
        format_xml(Hierarchy.of_rows([("a\x01", "x")]))


# ---- text and JSON --------------------------------------------------------------------------------------------------


def test_comments_tabs_and_quotes_in_text() -> None:
    text = '// jobs\n*\n\tmedic\n\t\tnurse\n\t" clerk"\n'
    assert parse_tree(text).rows() == [("nurse", "medic", "*"), (" clerk", " clerk", "*")]


def test_uneven_indentation_is_refused_with_its_line() -> None:
    with pytest.raises(BadHierarchy, match="line 3 is indented by 2, its sisters by 4"):
        parse_tree("*\n    a\n  b\n")
    with pytest.raises(BadHierarchy, match="line 2 starts a quoted label"):
        parse_tree('*\n  "a\n')


def nested_text(levels: int) -> str:
    return "".join(" " * depth + f"n{depth}\n" for depth in range(levels))


def nested_json(levels: int) -> str:
    whole = json.loads(format_json(Hierarchy.of_rows([("nurse", "*")])))
    whole |= {"labels": [[f"n{level}"] for level in range(levels)], "parents": [[0]] * (levels - 1)}
    return json.dumps(whole)


@pytest.mark.parametrize("levels", [DEEPEST, DEEPEST + 1, 3_000])
@pytest.mark.parametrize(
    ("read", "spell"),
    [
        (parse_tree, nested_text),
        (parse_json, nested_json),
        (parse_arx, lambda levels: ";".join(f"n{level}" for level in range(levels)) + "\n"),
        (partial(parse_arx, ragged="repeat"), lambda n: "a;b\n" + ";".join(["c", *(f"n{i}" for i in range(1, n))])),
    ],
    ids=["text", "json", "csv", "ragged csv"],
)
def test_levels_without_end_are_refused(read: Callable[[str], Hierarchy], spell: Any, levels: int) -> None:
    if levels > DEEPEST:
        with pytest.raises(BadHierarchy, match="more than 200 levels"):
            read(spell(levels))
    elif "b" not in spell(3):
        assert read(spell(levels)).height == levels - 1


def test_labels_keep_their_types_in_json() -> None:
    leaves = [1, 2.5, "x", True, datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4)]
    for leaf in leaves:
        back = parse_json(format_json(Hierarchy.of_rows([(leaf, "*")]))).leaves[0]
        assert back == leaf
        assert type(back) is type(leaf)


@settings(max_examples=30, deadline=None)
@given(hierarchies())
def test_json_keeps_everything(hierarchy: Hierarchy) -> None:
    back = parse_json(format_json(hierarchy))
    assert back.labels == hierarchy.labels
    assert (back.codes == hierarchy.codes).all()


def test_concepts_are_written_as_ids_and_need_their_taxonomy() -> None:
    taxonomy = from_edges([("nurse", "medic"), ("medic", "worker")])
    code = taxonomy.code
    concepts = tuple(np.array([c], np.int32) for c in (code("nurse"), code("medic"), -1))
    hierarchy = Hierarchy("job", (("n",), ("m",), ("*",)), np.zeros((1, 3), np.int32), concepts=concepts)
    text = format_json(hierarchy, taxonomy=taxonomy)
    back = parse_json(text, taxonomy=taxonomy)
    assert back.concepts is not None
    assert [c.tolist() for c in back.concepts] == [c.tolist() for c in concepts]
    assert parse_json(text).concepts is None
    with pytest.raises(BadHierarchy, match=r"has changed since the file was made; .*build the hierarchy again"):
        parse_json(text, taxonomy=from_edges([("a", "b")]))
    with pytest.raises(BadInput, match="made with the taxonomy 'taxonomy', not with 'other'; give the taxonomy"):
        parse_json(text, taxonomy=from_edges([("a", "b")], name="other"))


GOOD = format_json(JOBS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "{}",
        "[" * 100_000,
        GOOD.replace('"version": 2', '"version": 3'),
        GOOD.replace('"version": 2', '"version": "2"'),
        GOOD.replace('"parents"', '"concepts": [["n", "s", "c"], [null, null], [null]], "parents"'),
        GOOD.replace('"kind": "nominal"', '"kind": "other"'),
        GOOD.replace('"parents": [[0, 0, 1]', '"parents": [[0, 0, 9]'),
        GOOD.replace('"parents": [[0, 0, 1]', '"parents": [[0, 0, 0]'),
        GOOD.replace('"parents": [[0, 0, 1]', '"parents": [[0, 0]'),
        GOOD.replace('"nurse"', '"surgeon"'),
        GOOD.replace('"nurse"', '{"time": 1}'),
        GOOD.replace('"nurse"', '{"date": "x"}'),
        GOOD.replace('"nurse"', '""'),
    ],
)
def test_broken_json_is_refused(text: str) -> None:
    with pytest.raises(BadHierarchy):
        parse_json(text)


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(BadHierarchy, match="not a finite number"):
        format_json(Hierarchy.of_rows([(float("inf"), "*")]))
    with pytest.raises(BadHierarchy, match="labels of type tuple"):
        format_json(Hierarchy.of_rows([((1, 2), "*")]))


def test_files_of_each_form(tmp_path: Path) -> None:
    write_xml(JOBS, tmp_path / "job.xml")
    write_tree(JOBS, tmp_path / "job.txt")
    write_json(JOBS, tmp_path / "job.json")
    write_arx(JOBS, tmp_path / "job.csv")
    for back in (
        read_xml(tmp_path / "job.xml"),
        read_tree(tmp_path / "job.txt"),
        read_json(tmp_path / "job.json"),
        read_arx(tmp_path / "job.csv"),
    ):
        assert back.rows() == JOBS.rows()
        assert back.name == "job"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["job.csv", "job.json", "job.txt", "job.xml"]
