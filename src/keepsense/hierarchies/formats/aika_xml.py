"""Hierarchies as nested XML, the form of AIKA and of the UTD Anonymization Toolbox.

The papers do not print the form; this is the toolbox's: a `vgh` element holds the root's label in its `value`, nested
`node` elements hold the labels below it, and the innermost ones are the leaves. A whole toolbox configuration may be
given too: its `att` elements hold one `vgh` each, chosen by name.

Parsing is strict: a document type, an entity declaration or an external reference is refused at once, before anything
is expanded, so a small file cannot grow into a huge one (the "billion laughs") nor reach for other files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from xml.parsers import expat

from keepsense.errors import BadHierarchy
from keepsense.hierarchies.formats.hierarchy_formats import FORMATS, Format, check_depth, read_bytes, write_bytes
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy
from keepsense.hierarchies.hierarchy_tree import Policy, from_nodes, nested


@dataclass
class _Reader:
    """What expat tells, collected: for each `vgh` its name, labels and parents."""

    file: str
    names: list[str | None] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)
    parents: list[list[int]] = field(default_factory=list)
    path: list[int] = field(default_factory=list)
    attribute: str | None = None
    depth: int = 0
    mapped: bool = False

    def refuse(self, *_: object) -> int:
        raise BadHierarchy(
            f"{self.file}: the XML declares a document type or entities, which no hierarchy needs; it is refused"
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        check_depth(self.file, self.depth)
        if tag == "att":
            self.attribute = attributes.get("name")
            self.mapped = False
        elif tag == "entry":
            self.mapped = True
        elif tag == "vgh" or (tag == "node" and self.path):
            if "value" not in attributes:
                raise BadHierarchy(f"{self.file}: a {tag} element has no value; write its label there")
            if tag == "vgh":
                if self.path:
                    raise BadHierarchy(f"{self.file}: a vgh element stands inside another; use node elements inside")
                if self.mapped:
                    raise BadHierarchy(
                        f"{self.file}: the hierarchy of {self.attribute!r} is given as intervals over numbered values; "
                        "write its values as node elements"
                    )
                self.names.append(self.attribute)
                self.labels.append([])
                self.parents.append([])
            self.parents[-1].append(self.path[-1] if self.path else UNKNOWN)
            self.path.append(len(self.labels[-1]))
            self.labels[-1].append(attributes["value"])
        elif self.path:
            raise BadHierarchy(f"{self.file}: unknown element {tag[:40]!r} inside a hierarchy; only node belongs there")
        elif tag == "node":
            raise BadHierarchy(f"{self.file}: a node element stands outside a vgh element")

    def end(self, tag: str) -> None:
        self.depth -= 1
        if tag in ("vgh", "node") and self.path:
            self.path.pop()


def parse_xml(
    data: bytes | str,
    *,
    name: str | None = None,
    kind: str = "nominal",
    policy: Policy = "leaf",
    file: str = "hierarchy",
) -> Hierarchy:
    """Read a hierarchy from XML; `name` chooses one where a configuration holds several.

    >>> parse_xml('<vgh value="*"><node value="medic"><node value="nurse"/></node><node value="clerk"/></vgh>').rows()
    [('nurse', 'medic', '*'), ('clerk', 'clerk', '*')]
    """
    reader = _Reader(file)
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.EntityDeclHandler = reader.refuse
    parser.UnparsedEntityDeclHandler = reader.refuse
    parser.ExternalEntityRefHandler = reader.refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(data.encode("utf-8") if isinstance(data, str) else data, True)
    except expat.ExpatError as error:
        raise BadHierarchy(
            f"{file}: not well-formed XML (line {error.lineno}: {expat.ErrorString(error.code)}); mend the file"
        ) from None
    except (LookupError, ValueError):
        raise BadHierarchy(
            f"{file}: the XML declaration names an encoding that cannot be read; save the file as UTF-8"
        ) from None
    if not reader.labels:
        raise BadHierarchy(f"{file}: the XML holds no vgh element, so no hierarchy")
    at = 0
    if len(reader.labels) > 1:
        if name not in reader.names:
            there = ", ".join(str(n) for n in reader.names)
            raise BadHierarchy(f"{file}: the XML holds {len(reader.labels)} hierarchies ({there}); name one of them")
        at = reader.names.index(name)
    found = name or reader.names[at] or file
    return from_nodes(reader.labels[at], reader.parents[at], name=found, kind=kind, policy=policy)


def read_xml(path: str | Path, *, name: str | None = None, kind: str = "nominal", policy: Policy = "leaf") -> Hierarchy:
    """Read an XML file (see `parse_xml`).

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.xml"
    >>> write_xml(Hierarchy.of_rows([("nurse", "medic", "*")]), path)
    >>> read_xml(path).rows()
    [('nurse', 'medic', '*')]
    """
    return parse_xml(read_bytes(path), name=name, kind=kind, policy=policy, file=Path(path).stem)


def format_xml(hierarchy: Hierarchy) -> str:
    """Spell a hierarchy as XML; padding with leaves is left out.

    >>> print(format_xml(Hierarchy.of_rows([("nurse", "*")])), end="")
    <?xml version="1.0" encoding="UTF-8"?>
    <vgh value="*">
      <node value="nurse"/>
    </vgh>
    """
    tree = nested(hierarchy)
    if len(tree.roots) != 1:
        raise BadHierarchy(
            f"{hierarchy.name}: it has {len(tree.roots)} roots and XML needs one; add a level above them"
        )
    for label in tree.labels:
        if any(ord(c) < 32 and c not in "\t\n\r" for c in str(label)):
            raise BadHierarchy(f"{hierarchy.name}: a label holds a control character, which XML cannot; rename it")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>\n']

    def spell(node: int, depth: int) -> None:
        tag = "node" if depth else "vgh"
        value = escape(str(tree.labels[node])).translate({9: "&#9;", 10: "&#10;", 13: "&#13;"})
        below = sorted(tree.children.get(node, ()), key=lambda child: first[child])
        lines.append(f'{"  " * depth}<{tag} value="{value}"{"" if below else "/"}>\n')
        for child in below:
            spell(child, depth + 1)
        if below:
            lines.append(f"{'  ' * depth}</{tag}>\n")

    first = tree.first_leaf
    spell(tree.roots[0], 0)
    return "".join(lines)


def write_xml(hierarchy: Hierarchy, path: str | Path) -> None:
    """Write an XML file (see `format_xml`).

    >>> import tempfile
    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")], name="job")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_xml(jobs, Path(folder) / "job.xml")
    ...     len(read_xml(Path(folder) / "job.xml").leaves)
    2
    """
    write_bytes(path, format_xml(hierarchy).encode("utf-8"))


FORMATS.add("xml", Format("xml", "AIKA's XML", (".xml",), read_xml, write_xml))
