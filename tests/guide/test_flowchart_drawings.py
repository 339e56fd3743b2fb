"""Flowcharts and trees drawn as text and as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from keepsense.errors import BadInput
from keepsense.guide.catalogue import catalogue, entry, flowchart
from keepsense.guide.catalogue_text import draw_tree_svg, draw_tree_text, tree, trees
from keepsense.guide.flowchart_drawing import draw_svg, draw_text, lanes, shown
from keepsense.methods.method_flowchart import Edge, Flowchart, Node

LOOP = Flowchart(
    (
        Node("begin", "Begin", "start"),
        Node("ask", "Done?", "question"),
        Node("work", "Work by {rule}"),
        Node("end", "End", "end"),
    ),
    (Edge("begin", "ask"), Edge("ask", "work", "no"), Edge("work", "ask"), Edge("ask", "end", "yes")),
)
DRAWN = """
     ╭──────────────────────╮
     │        Begin         │
     ╰──────────┬───────────╯
                ▼
     ╱──────────────────────╲
┌───▶⟨       1. Done?       ⟩──yes──┐
│    ╲──────────┬───────────╱       │
│               │ no                │
│               ▼                   │
│    ┌──────────────────────┐       │
└────│  2. Work by ‹rule›   │       │
     └──────────────────────┘       │
                                    │
     ╭──────────────────────╮       │
     │         End          │◀──────┘
     ╰──────────────────────╯
"""


def test_a_loop_is_drawn_with_its_ways_round() -> None:
    assert draw_text(LOOP, 24) == DRAWN.strip("\n")


def test_every_flowchart_fits_the_terminal_and_says_everything(subtests: pytest.Subtests) -> None:
    for name in catalogue():
        with subtests.test(name=name):
            chart = flowchart(name)
            drawn = draw_text(chart)
            assert max(map(len, drawn.splitlines())) <= 80
            words = " ".join("".join(c if c.isalnum() or c in "-'‹›" else " " for c in drawn).split())
            for node in chart.nodes:
                for word in shown(node.text).replace("/", " ").split():
                    plain = word.strip("(),;:.?")
                    if plain.isalpha():
                        assert plain in words, (name, plain)
            for edge in chart.edges:
                assert edge.label in drawn


def test_every_flowchart_is_sound_svg_that_stays_offline(subtests: pytest.Subtests) -> None:
    for name in catalogue():
        with subtests.test(name=name):
            drawn = draw_svg(flowchart(name), entry(name).title)
            root = ElementTree.fromstring(drawn)
            assert root.tag == "svg"
            assert not any("http" in value or "url(" in value for e in root.iter() for value in e.attrib.values())
            boxes = [e for e in root.iter() if e.get("class", "").startswith("box")]
            assert len(boxes) == len(flowchart(name).nodes)
            heads = [e for e in root.iter() if e.get("class") == "head"]
            assert len(heads) == len(flowchart(name).edges)


def test_text_is_escaped_in_svg() -> None:
    chart = Flowchart((Node("a", "k < 5 & <script>", "start"), Node("b", "x", "end")), (Edge("a", "b"),))
    assert "<script>" not in draw_svg(chart)


def test_lanes_that_overlap_run_side_by_side() -> None:
    nodes = tuple(Node(key, key) for key in "abcd")
    around = lanes(Flowchart(nodes, (Edge("c", "b"), Edge("d", "a"))))
    assert [lane.depth for lane in around] == [0, 1]


def test_a_flowchart_refuses_arrows_to_nowhere_and_equal_names() -> None:
    with pytest.raises(BadInput, match="no such node"):
        Flowchart((Node("a", "A"),), (Edge("a", "z"),))
    with pytest.raises(BadInput, match="alike"):
        Flowchart((Node("a", "A"), Node("a", "B")), ())


def test_filling_leaves_other_parameters_open() -> None:
    assert LOOP.filled({"rule": "hand"}).nodes[2].text == "Work by hand"
    assert LOOP.filled({}).parameters == ("rule",)


def test_figure_9_is_three_categories_and_nine_algorithms() -> None:
    drawn = draw_tree_text(tree(nine=True), about=False).splitlines()
    assert len(drawn) == 1 + 3 + 9
    assert sum(line.endswith("*") for line in drawn) == 9
    assert draw_tree_text(tree(), about=False).count("*") == 9


def test_trees_hold_every_entry_once() -> None:
    text = "\n".join(draw_tree_text(branch, about=False) for branch in trees())
    assert len(text.splitlines()) == len(catalogue())


@pytest.mark.parametrize("branch", trees(), ids=lambda branch: branch.entry.name)
def test_trees_are_sound_svg(branch: object) -> None:
    root = ElementTree.fromstring(draw_tree_svg(branch))  # type: ignore[arg-type]
    assert len([e for e in root.iter() if e.tag == "rect"]) == len(draw_tree_text(branch).splitlines())  # type: ignore[arg-type]
