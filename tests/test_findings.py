"""Codes of findings: one table, each code for one thing, none unknown or unused, all of them documented."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

import keepsense
from keepsense.errors import FINDINGS, Finding
from tests.pages import PAGES, ROOT

SOURCE = Path(keepsense.__file__).parent
CODE = re.compile(r"[EW][1-9]\d\d")


@cache
def rooms_of_codes() -> dict[str, set[str]]:
    """Rooms whose code holds each code of a finding as a text of its own; the studio answers findings and has none."""
    rooms = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                rooms[node.value].add(room)
    return {code: places - {"errors.py", "studio"} for code, places in rooms.items()}


def test_every_code_in_the_source_is_in_the_table_and_every_code_of_the_table_is_used() -> None:
    used = {code for code, rooms in rooms_of_codes().items() if rooms}
    assert used == set(FINDINGS)


def test_no_code_means_different_things_in_two_rooms() -> None:
    assert {code: rooms for code, rooms in rooms_of_codes().items() if len(rooms) > 1} == {}
    said = [meaning.says for meaning in FINDINGS.values()]
    assert len(set(said)) == len(said)


def test_no_code_is_listed_twice() -> None:
    table = ast.parse((SOURCE / "errors.py").read_text(encoding="utf-8"))
    codes = [node.value for node in ast.walk(table) if isinstance(node, ast.Constant)]
    listed = Counter(code for code in codes if isinstance(code, str) and CODE.fullmatch(code))
    assert {code for code, times in listed.items() if times > 1} == set()
    assert set(listed) == set(FINDINGS)


def test_the_table_says_what_to_do_in_words() -> None:
    for code, meaning in FINDINGS.items():
        assert all(meaning), code
        assert not (meaning.says + meaning.remedy).endswith("."), code
    assert Finding("E202", "id", "an identifying column").meaning.remedy == "remove it"


def test_the_reference_lists_every_code_and_pages_name_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    pages = importlib.import_module("docs_pages")
    assert set(CODE.findall(pages.pages()["findings"])) == set(FINDINGS)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for mark in pages.FINDINGS_MARK.findall(text):
            assert CODE.search(pages.findings_table(tuple(mark.split()))), f"{page.name}: {mark}"
        told = set(re.findall(r"\b([EW]\d{3})\b(?! -|:? type)", pages.FINDINGS_MARK.sub("", text)))
        assert {code for code in told if page.name != "taxonomy-icd.md"} <= set(FINDINGS), page.name
