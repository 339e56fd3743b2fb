"""Pages of the documentation taken apart: fenced blocks, and the commands that a reader would type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
BEFORE = re.compile(r"^<!-- before: (.*?) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, text and first line, and the file it is, where it has a title."""

    kind: str
    text: str
    line: int
    title: str = ""


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(m[1], m[3], text.count("\n", 0, m.start()) + 2, title[1] if (title := TITLE.search(m[2])) else "")
        for m in FENCE.finditer(text)
    ]


def commands(page: Path) -> Iterator[tuple[str, str]]:
    for block in blocks(page):
        if block.kind == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield command, trimmed(shown)


def trimmed(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


def preparations(page: Path) -> list[str]:
    """Commands that make what a page takes for granted; comments that readers do not see."""
    return BEFORE.findall(page.read_text(encoding="utf-8"))
