"""A hierarchy as indented text: the root first, each child one step further in.

    *
      medic
        nurse
        surgeon
      clerk

Lines that start with `//` are comments. A label that starts or ends with blanks, looks like a comment or holds a line
end is written as a JSON string.
"""

from __future__ import annotations

import json
from pathlib import Path

from keepsense.errors import BadHierarchy
from keepsense.files import parsed_json
from keepsense.hierarchies.formats.hierarchy_formats import FORMATS, Format, check_depth, read_text, write_bytes
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy
from keepsense.hierarchies.hierarchy_tree import Policy, from_nodes, nested


def format_tree(hierarchy: Hierarchy, *, indent: int = 2) -> str:
    r"""Spell a hierarchy as indented text; padding with leaves is left out.

    >>> print(format_tree(Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "clerk", "*")])))
    *
      medic
        nurse
      clerk
    <BLANKLINE>
    """
    tree = nested(hierarchy)
    first = tree.first_leaf
    lines: list[str] = []
    waiting = [(root, 0) for root in sorted(tree.roots, key=lambda node: first[node], reverse=True)]
    while waiting:
        node, depth = waiting.pop()
        lines.append(" " * (indent * depth) + _spell(str(tree.labels[node])) + "\n")
        below = sorted(tree.children.get(node, ()), key=lambda child: first[child], reverse=True)
        waiting += [(child, depth + 1) for child in below]
    return "".join(lines)


def parse_tree(text: str, *, name: str = "hierarchy", kind: str = "nominal", policy: Policy = "leaf") -> Hierarchy:
    r"""Read a hierarchy from indented text; leaves at different depths are padded by the policy.

    >>> parse_tree("*\n  medic\n    nurse\n  clerk\n").rows()
    [('nurse', 'medic', '*'), ('clerk', 'clerk', '*')]
    """
    labels: list[str] = []
    parent: list[int] = []
    path: list[tuple[int, int]] = []  # (indentation, node) from the root to the last line
    inner: dict[int, int] = {}  # indentation of each node's children
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("//"):
            continue
        wide = line.expandtabs(8)
        indentation = len(wide) - len(wide.lstrip())
        while path and path[-1][0] >= indentation:
            path.pop()
        above = path[-1][1] if path else UNKNOWN
        if inner.setdefault(above, indentation) != indentation:
            raise BadHierarchy(
                f"{name}: line {number:,} is indented by {indentation}, its sisters by {inner[above]}; "
                "indent the children of one parent alike"
            )
        path.append((indentation, len(labels)))
        check_depth(name, len(path))
        labels.append(_unspell(bare, name, number))
        parent.append(above)
    return from_nodes(labels, parent, name=name, kind=kind, policy=policy)


def read_tree(
    path: str | Path, *, name: str | None = None, kind: str = "nominal", policy: Policy = "leaf"
) -> Hierarchy:
    """Read a file of indented text.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.txt"
    >>> write_tree(Hierarchy.of_rows([("nurse", "medic", "*")]), path)
    >>> read_tree(path).rows()
    [('nurse', 'medic', '*')]
    """
    return parse_tree(read_text(path), name=name or Path(path).stem, kind=kind, policy=policy)


def write_tree(hierarchy: Hierarchy, path: str | Path, *, indent: int = 2) -> None:
    """Write a file of indented text (see `format_tree`).

    >>> import tempfile
    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")], name="job")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tree(jobs, Path(folder) / "job.txt")
    ...     len(read_tree(Path(folder) / "job.txt").leaves)
    2
    """
    write_bytes(path, format_tree(hierarchy, indent=indent).encode("utf-8"))


def _spell(label: str) -> str:
    plain = label == label.strip() and label and not label.startswith(("//", '"')) and len(label.splitlines()) == 1
    return label if plain else json.dumps(label, ensure_ascii=False)


def _unspell(text: str, name: str, line: int) -> str:
    if not text.startswith('"'):
        return text
    try:
        label = parsed_json(text)
    except ValueError:
        raise BadHierarchy(
            f"{name}: line {line:,} starts a quoted label and does not end it; close the quotes"
        ) from None
    return str(label)


FORMATS.add("tree", Format("tree", "indented text, to look at", (".tree", ".txt"), read_tree, write_tree))
