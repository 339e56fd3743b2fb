"""Files that somebody damaged, or made to do harm: one line that says what is wrong, exit 2, and soon."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from tests.e2e.test_cli import Run, run  # noqa: F401  (a fixture)

from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

PROJECT = """
[source]
path = "people.csv"

[columns.age]
role = "quasi-identifier"
kind = "numeric"

[columns.job]
role = "quasi-identifier"

[columns.illness]
role = "sensitive"

[[privacy]]
model = "k-anonymity"
k = 3
"""
DEEP = 100_000
HUGE = "9" * 10_000
HALF = "\\ud800"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a small table."""
    rows = (f"{20 + i % 3},{('nurse', 'clerk')[i % 2]},{('flu', 'cold', 'asthma')[i % 3]}" for i in range(60))
    (tmp_path / "people.csv").write_text("age,job,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "keepsense.toml").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def refused(run: Run, *words: str, seconds: float = 20) -> str:  # noqa: F811
    """The one line with which a command refuses its input."""
    start = time.monotonic()
    done = run(*words)
    assert done.code == 2, f"{words}: exit {done.code}: {done.err}"
    assert time.monotonic() - start < seconds
    assert [line[:2] for line in done.err.strip().splitlines()[1:]] in ([], ["  "]), done.err
    return done.err


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * DEEP,
        "x = " + "{a=" * 50_000,
        ".".join(["a"] * DEEP) + " = 1",
        f"[{'.'.join(['a'] * DEEP)}]",
        f"x = {{{'.'.join(['a'] * DEEP)} = 1}}",
        PROJECT.replace("k = 3", f"k = {HUGE}"),
        PROJECT.replace("k = 3", f"k = 0x{'f' * 10_000}"),
        PROJECT.replace(
            '"k-anonymity"\nk = 3', '"l-diversity"\nform = "recursive"\ncolumn = "illness"\nl = 2\nc = inf'
        ),
        PROJECT.replace(
            '"k-anonymity"\nk = 3', '"l-diversity"\nform = "recursive"\ncolumn = "illness"\nl = 2\nc = nan'
        ),
        PROJECT.replace('"k-anonymity"\nk = 3', '"t-closeness"\ncolumn = "illness"\nt = -inf'),
        PROJECT.replace("[columns.job]", "[columns.job]\nweight = inf"),
        PROJECT.replace("[columns.job]", f"[columns.job]\nweight = {HUGE}.0"),
        PROJECT + "[release]\nsuppression = nan\n",
        PROJECT + "[release]\nsuppression = inf\n",
        PROJECT + '[engine]\nmemory = "999999999999999TB"\n',
        PROJECT.replace("[columns.job]", '[columns.job]\nhierarchy = "\\u0000"'),
        PROJECT.replace("k = 3", 'k = 3\n[method]\nname = "x"\nparameters = { a = 1979-99-99 }'),
    ],
    ids=lambda text: text[-40:],
)
@pytest.mark.parametrize(
    "words", [("run",), ("guide", "people.csv", "-p", "keepsense.toml")], ids=lambda words: words[0]
)
def test_a_project_file_that_is_none(run: Run, folder: Path, words: tuple[str, ...], text: str) -> None:  # noqa: F811
    (folder / "keepsense.toml").write_text(text, encoding="utf-8")
    if words[0] == "guide":
        done = run(*words)
        assert done.code in (0, 2), done.err
    else:
        assert len(refused(run, *words)) < 1_000


@pytest.mark.parametrize(
    ("method", "key"),
    [
        ("optimal", "seconds"),
        ("local recoding", "seconds"),
        ("rank swapping", "k"),
        ("rank swapping", "window"),
        ("post-randomization", "keep"),
        ("microaggregation", "k"),
        ("correlated noise", "alpha"),
        ("top and bottom coding", "share"),
        ("local suppression", "k"),
    ],
)
def test_a_parameter_that_is_no_usual_number(run: Run, folder: Path, method: str, key: str) -> None:  # noqa: F811
    for value in ("inf", "nan", "-inf", "1e308", "-1", "0", "4611686018427387904"):
        text = PROJECT + f'[method]\nname = "{method}"\nparameters = {{ {key} = {value} }}\n'
        (folder / "keepsense.toml").write_text(text, encoding="utf-8")
        done = run("run")
        assert done.code in (0, 1, 2), f"{value}: {done.err}"


@pytest.mark.parametrize(
    "line",
    [
        "[" * DEEP,
        '{"date": "x", "file": "x", "columns": ["a"], "promises": [], "epsilon": ' + HUGE + "}",
        '{"date": "x", "file": "x", "columns": ["a"], "promises": [], "epsilon": Infinity}',
        '{"date": "x", "file": "x", "columns": ["a"], "promises": [], "epsilon": NaN}',
        '{"date": "x", "file": "x", "columns": [[1]], "promises": [], "epsilon": 1}',
        '{"date": "x", "file": "x", "columns": 3, "promises": [], "epsilon": 1}',
        '{"date": "x", "file": "x", "columns": [1, "job"], "promises": [], "epsilon": 1}',
        '{"date": "x", "file": "x", "columns": ["' + HALF + '"], "promises": [], "epsilon": 1}',
    ],
    ids=lambda line: line[-60:],
)
def test_a_ledger_that_is_none(run: Run, folder: Path, line: str) -> None:  # noqa: F811
    (folder / "ledger.jsonl").write_text(line + "\n", encoding="utf-8")
    assert "ledger" in refused(run, "run")
    assert not (folder / "release").exists()


def changed(value: Any, rng: random.Random) -> Any:
    """Something of another type in a place of a document."""
    return rng.choice([None, True, 3, -1.5, 10**400, "text", [], [[]], {}, {"a": 1}, float("inf"), float("nan")])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inside for place in places(each, (*path, key)))]


def test_a_description_of_another_shape(run: Run, folder: Path) -> None:  # noqa: F811
    assert run("run").code == 0
    path = folder / "release" / "release.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    for text in ("[" * DEEP, "{}", "[]", "3", "null", "{" * 10, '{"keepsense": ' + HUGE + "}", "\\"):
        path.write_text(text, encoding="utf-8")
        refused(run, "report", "--public")
        refused(run, "run")
    path.write_bytes(b"\xff\xfe{")
    refused(run, "report", "--public")
    rng = random.Random(1)
    for place in rng.sample(places(whole), 25):
        document = {"": json.loads(json.dumps(whole))}
        *way, last = ("", *place)
        part: Any = document
        for key in way:
            part = part[key]
        part[last] = changed(part[last], rng)
        path.write_text(json.dumps(document[""]), encoding="utf-8")
        done = run("report", "--public")
        assert done.code in (0, 2), f"{place}: {done.err}"


HIERARCHY = PROJECT.replace("[columns.job]", '[columns.job]\nhierarchy = "jobs.FORMAT"')


@pytest.mark.parametrize(
    ("ending", "content"),
    [
        ("xml", b'<?xml version="1.0" encoding="UTF-7"?><vgh value="*"><node value="nurse"/></vgh>'),
        ("xml", b'<?xml version="1.0" encoding="idna"?><vgh value="*"><node value="nurse"/></vgh>'),
        ("xml", b'<?xml version="1.0" encoding="rot13"?><vgh value="*"><node value="nurse"/></vgh>'),
        ("xml", b'<?xml version="1.0" encoding="zlib"?><vgh value="*"><node value="nurse"/></vgh>'),
        ("xml", b'<?xml version="1.0" encoding="none-such"?><vgh value="*"><node value="nurse"/></vgh>'),
        ("xml", b'<vgh value="*">' + b'<node value="a">' * DEEP),
        ("json", b"[" * DEEP),
        ("json", b'{"format": "keepsense hierarchy", "version": ' + HUGE.encode() + b"}"),
        ("tree", b'"\\ud800"\n  "x"\n'),
        ("csv", b"nurse;" * DEEP),
        ("csv", b'"' + b"x" * 200_000),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_hierarchy_that_is_none(run: Run, folder: Path, ending: str, content: bytes) -> None:  # noqa: F811
    (folder / f"jobs.{ending}").write_bytes(content)
    (folder / "keepsense.toml").write_text(HIERARCHY.replace("FORMAT", ending), encoding="utf-8")
    refused(run, "run")
    refused(run, "hierarchy", "convert", f"jobs.{ending}", "other.csv")


def test_a_damaged_compressed_taxonomy(run: Run, folder: Path) -> None:  # noqa: F811
    from_edges([("nurse", "job"), ("clerk", "job"), ("head nurse", "nurse")]).save(
        folder / "jobs.taxonomy", compress=True
    )
    whole = (folder / "jobs.taxonomy").read_bytes()
    rng = random.Random(1)
    codes = set()
    for _ in range(20):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 2, 8])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        (folder / "jobs.taxonomy").write_bytes(data)
        done = run("taxonomy", "show", "job", "--taxonomy", "jobs.taxonomy")
        codes.add(done.code)
        assert done.code in (0, 2), done.err
    assert 2 in codes


def test_a_name_that_is_half_a_character(run: Run, folder: Path) -> None:  # noqa: F811
    for place in ("id", "lbl"):
        node = {"id": "A:1", "lbl": "animal", "type": "CLASS", place: "LATER"}
        graph = json.dumps({"graphs": [{"nodes": [node], "edges": [], "meta": {"version": "LATER"}}]})
        (folder / "pets.json").write_text(graph.replace("LATER", HALF), encoding="utf-8")
        refused(run, "taxonomy", "import", "pets.json")


def test_a_recoding_that_asks_for_more_memory_than_there_is(run: Run, folder: Path) -> None:  # noqa: F811
    assert run("run").code == 0
    path = folder / "release" / "private" / "recoding.json"
    cells = {
        "form": "cells",
        "names": ["job"],
        "values": [["nurse"]],
        "source": [2**32],
        "codes": [[0]],
        "multiplicity": [1],
        "suppressed": None,
        "inputs": {"names": ["job"], "values": [["nurse"]], "codes": [[0]], "weights": [1]},
    }
    cut = {"name": "job", "inputs": ["nurse"], "outputs": ["*"], "level": 1}
    draws = {"form": "draws", "name": "job", "inputs": ["a"], "outputs": ["a"], "probabilities": [[1.0]]}
    for rule in (
        cells,
        {**cells, "source": [-1]},
        {**cells, "source": [[0]]},
        {**cells, "source": [0], "codes": [[7]]},
        {**cells, "source": [0], "codes": [[-1]]},
        {**cells, "source": [0], "suppressed": [True, False]},
        {**cells, "source": [0], "multiplicity": [2**70]},
        {**cells, "source": [0], "names": [["job"]]},
        {**cells, "source": [0], "values": []},
        {"form": "cuts", "cuts": [{**cut, "outputs": [{}]}], "suppress": []},
        {"form": "cuts", "cuts": [{**cut, "name": []}], "suppress": []},
        {"form": "cuts", "cuts": [cut], "suppress": [[[[]]]]},
        {"form": "cuts", "cuts": [], "suppress": []},
        {**draws, "probabilities": [1.0]},
        {**draws, "probabilities": []},
        {**draws, "name": {}},
        "cuts",
        {},
    ):
        path.write_text(json.dumps([rule]), encoding="utf-8")
        refused(run, "report", "--internal")
        refused(run, "run", "--reuse", str(path))


def test_a_taxonomy_of_ones_own_is_read_by_its_path(run: Run, folder: Path) -> None:  # noqa: F811
    own = from_edges([("nurse", "job"), ("clerk", "job")], name="jobs")
    for packed in (False, True):
        own.save(folder / "own.taxonomy", compress=packed)
        assert len(Taxonomy.load(folder / "own.taxonomy")) == 3
        done = run("distance", "nurse", "clerk", "--taxonomy", "own.taxonomy")
        assert done.code == 0, done.err
        text = PROJECT.replace("[columns.job]", '[columns.job]\ntaxonomy = "own.taxonomy"\nhierarchy = "auto"')
        (folder / "keepsense.toml").write_text(text, encoding="utf-8")
        done = run("run")
        assert done.code == 0, done.err


def chain(length: int) -> str:
    terms = (f"[Term]\nid: A:{i}\nname: n{i}\n{f'is_a: A:{i - 1}' if i else ''}\n\n" for i in range(length))
    return "format-version: 1.2\n\n" + "".join(terms)


def test_time_grows_with_the_length_of_a_chain_not_with_its_square(run: Run, folder: Path) -> None:  # noqa: F811
    seconds = []
    for length in (200, 5_000, 20_000):  # the first compiles
        (folder / "chain.obo").write_text(chain(length), encoding="utf-8")
        start = time.process_time()
        assert run("taxonomy", "import", "chain.obo", "--name", f"chain{length}").code == 0
        seconds.append(time.process_time() - start)
    assert seconds[2] < 10 * seconds[1], "four times as many concepts take no more than ten times as long"


def test_elements_nested_without_end_are_refused(run: Run, folder: Path) -> None:  # noqa: F811
    names = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"'
    opened, closed = "<owl:Class><owl:unionOf>" * DEEP, "</owl:unionOf></owl:Class>" * DEEP
    (folder / "deep.owl").write_text(f"<rdf:RDF {names}>{opened}{closed}</rdf:RDF>", encoding="utf-8")
    assert "nested more than 1,000 deep" in refused(run, "taxonomy", "import", "deep.owl")


def workbook(path: Path, sheet: str) -> None:
    """A workbook whose only sheet is the given XML."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["job"])
    book.save(path)
    with ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    with ZipFile(path, "w", ZIP_DEFLATED) as changed:
        for name, content in parts.items():
            changed.writestr(name, sheet if name.endswith("sheet1.xml") else content)


SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}<sheetData>{}</sheetData></worksheet>'
CELL = '<row r="{row}"><c r="{column}{row}" t="inlineStr"><is><t>{text}</t></is></c></row>'


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("A", 1, "job"), ("A", 999_999_999, "nurse")], "no worksheet has"),
        ([("A", 1, "job"), ("A", 2, "nurse"), ("A", 10**30, "clerk")], "no worksheet has"),
        ([("ZZZZZZZ", 1, "job"), ("A", 2, "nurse")], "the sheet cannot be read"),
        ([("A", 1, "x" * (1 << 27))], "many times its size"),
    ],
    ids=["a row", "a row of thirty digits", "a column", "a long text"],
)
def test_a_cell_may_claim_any_place_of_a_sheet(
    run: Run,  # noqa: F811
    folder: Path,
    rows: list[tuple[str, int, str]],
    said: str,
) -> None:
    cells = "".join(CELL.format(column=column, row=row, text=text) for column, row, text in rows)
    workbook(folder / "people.xlsx", SHEET.format("", cells))
    assert said in refused(run, "inspect", "people.xlsx")


def test_a_sheet_may_be_wrong_about_its_size_and_far_cells_are_left_out(run: Run, folder: Path) -> None:  # noqa: F811
    rows = [("A", 1, "job"), ("A", 2, "nurse"), ("XFD", 3, "far"), ("A", 4, "_xD800_"), ("A", 5, "clerk")]
    cells = "".join(CELL.format(column=column, row=row, text=text) for column, row, text in rows)
    workbook(folder / "people.xlsx", SHEET.format('<dimension ref="A1:C999999999"/>', cells))
    done = run("inspect", "people.xlsx", "--json")
    assert done.code == 0, done.err
    assert done.json["rows"] == 3
