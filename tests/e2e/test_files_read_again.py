"""Files of hierarchies and mappings mean the same when read again: every command that writes one with every command
that reads one, with a domain and without."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keepsense import cli
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_scores import score
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.value_mapping import Mapping

WORDS = ("truck driver", "driver", "nurse", "surgeon", "medical practitioner", "coach", "pilot", "clerk", "baker")
DOMAINS = (None, "person")
Run = Callable[..., "tuple[int, str, str]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of jobs, and the files that commands wrote for it, by domain."""
    place = tmp_path_factory.mktemp("files")
    lines = ["sex,job", *(f"{'fm'[i % 2]},{WORDS[i % len(WORDS)]}" for i in range(12 * len(WORDS)))]
    (place / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line inside this process, in the folder of the files."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KEEPSENSE_HOME", str(folder / "home"))
    monkeypatch.setenv("COLUMNS", "140")

    def command(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return command


def within(domain: str | None) -> list[str]:
    return [] if domain is None else ["--domain", domain]


def written(run: Run, folder: Path, domain: str | None) -> dict[str, Path]:
    """A hierarchy of jobs as each command writes it, made once."""
    files = {name: folder / f"{name}-{domain}.json" for name in ("build", "convert", "edit", "improve")}
    built = str(files["build"])
    if not files["improve"].exists():
        for words in (
            ("build", "people.csv", "job", "-t", "wordnet", "-o", built, *within(domain)),
            ("convert", built, str(files["convert"])),
            ("edit", built, "drop_level", "level=1", "-o", str(files["edit"])),
            ("improve", built, "-o", str(files["improve"]), "--at-most", "2"),
        ):
            assert run("hierarchy", *words, "--quiet")[0] == 0, words
    return files


def ids(path: Path) -> Iterator[tuple[str, str | None]]:
    """Labels and ids of a file, read by nothing of ours."""
    document = json.loads(path.read_text(encoding="utf-8"))
    for labels, concepts in zip(document["labels"], document["concepts"], strict=True):
        yield from zip(labels, concepts, strict=True)


def read_plainly(path: Path) -> Hierarchy:
    """The hierarchy of a file by its ids alone, in all of WordNet."""
    nouns, document = wordnet(), json.loads(path.read_text(encoding="utf-8"))
    codes = [np.arange(len(document["labels"][0]), dtype=np.int32)]
    for up in document["parents"]:
        codes.append(np.array(up, dtype=np.int32)[codes[-1]])
    place = {concept: code for code, concept in enumerate(nouns.ids)}
    concepts = [[-1 if c is None else place[c] for c in level] for level in document["concepts"]]
    return Hierarchy(
        "job",
        tuple(map(tuple, document["labels"])),
        np.stack(codes, axis=1),
        concepts=tuple(np.array(level, dtype=np.int32) for level in concepts),
    )


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_commands_write_names_concepts_by_their_ids(run: Run, folder: Path, domain: str | None) -> None:
    nouns = wordnet()
    for name, file in written(run, folder, domain).items():
        document = json.loads(file.read_text(encoding="utf-8"))
        stated = {"name": "WordNet 3.0", "version": "", "fingerprint": nouns.fingerprint}
        assert (document["version"], document["taxonomy"]) == (2, stated), name
        known = [(label, concept) for label, concept in ids(file) if concept is not None]
        assert len(known) >= len(WORDS)
        for label, concept in known:
            word = label.partition("#")[0].removesuffix(" (any kind)")
            assert label == "*" or word in nouns.synonyms(concept), (name, label)
            assert domain is None or nouns.is_a(concept, domain), (name, label)


@pytest.mark.parametrize("writer", ["build", "convert", "edit", "improve"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_every_command_reads_what_every_command_wrote(run: Run, folder: Path, domain: str | None, writer: str) -> None:
    file = written(run, folder, domain)[writer]
    expected = score(read_plainly(file), distance("wu-palmer", wordnet()), unknown="list").total
    code, out, _ = run("hierarchy", "score", file.name, "--json")
    assert (code, json.loads(out)["hierarchies"][0]["score"]) == (0, pytest.approx(expected))
    code, out, _ = run("hierarchy", "explain", file.name, "--json")
    assert (code, json.loads(out)["score"]) == (0, pytest.approx(expected))
    assert not [p["problem"] for p in json.loads(out)["problems"] if "no kind of" in p["problem"]]
    code, out, _ = run("hierarchy", "choose", file.name, file.name, "--json")
    assert (code, [e["score"] for e in json.loads(out)["ranking"]]) == (0, pytest.approx([expected] * 2))
    code, out, _ = run("hierarchy", "improve", file.name, "-o", "again.json", "--at-most", "0", "--json")
    assert (code, json.loads(out)["before"]) == (0, pytest.approx(expected))
    assert list(ids(folder / "again.json")) == list(ids(file))
    assert run("hierarchy", "convert", file.name, "again.json", "--quiet")[0] == 0
    assert list(ids(folder / "again.json")) == list(ids(file))
    assert run("hierarchy", "edit", file.name, "drop_level", "level=1", "-o", "again.json", "--quiet")[0] == 0
    assert set(ids(folder / "again.json")) <= set(ids(file))


def project(folder: Path, **about: Any) -> Path:
    """A project that releases the jobs, with what is said of their column."""
    said = "".join(f"{key} = {json.dumps(value)}\n" for key, value in about.items() if value is not None)
    text = (
        '[source]\npath = "people.csv"\n\n[columns.sex]\nrole = "quasi-identifier"\n\n'
        f'[columns.job]\nrole = "quasi-identifier"\nkind = "nominal"\ntaxonomy = "wordnet"\n{said}\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 3\n\n[method]\nname = "datafly"\n'
    )
    file = folder / "project.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("reader", DOMAINS)
@pytest.mark.parametrize("writer", DOMAINS)
def test_a_run_takes_a_hierarchy_for_what_it_is(run: Run, folder: Path, writer: str | None, reader: str | None) -> None:
    file = written(run, folder, writer)["build"]
    outside = [c for _, c in ids(file) if c is not None and not wordnet().is_a(c, reader or "entity")]
    outside = [c for c in outside if not wordnet().is_a(reader or "entity", c)]
    code, _, err = run("run", str(project(folder, hierarchy=file.name, domain=reader)), "--quiet")
    if outside:
        assert (code, "is no kind of 'person', the domain of the column" in err) == (2, True)
        return
    assert (code, err) == (0, "")
    words = Meaning({"job": Column(taxonomy="wordnet", domain=reader, hierarchy=file.name)}, folder)
    tree = words.hierarchy("job", dict.fromkeys(WORDS, 12))
    part = words.taxonomy("job")
    for (label, concept), own in zip(ids(file), np.concatenate(tree.concepts).tolist(), strict=True):
        if concept is None:
            assert own == -1
        elif wordnet().is_a(reader or "entity", concept):
            assert own == part.root, label
        else:
            assert part.id(own) == concept, label


def mapping_file(run: Run, folder: Path, domain: str | None) -> Path:
    """The mapping of the jobs that `map` writes."""
    file = folder / f"mapping-{domain}.csv"
    if not file.exists():
        assert run("map", "people.csv", "job", "--output", file.name, "--accept", "--quiet", *within(domain))[0] == 0
    return file


def lines(path: Path) -> dict[str, str]:
    """Values and ids of a mapping file, read by nothing of ours."""
    with path.open(encoding="utf-8", newline="") as file:
        return {line["value"]: line["concept"] for line in csv.DictReader(file) if line["value"] and line["concept"]}


@pytest.mark.parametrize("reader", DOMAINS)
@pytest.mark.parametrize("writer", DOMAINS)
def test_a_mapping_means_the_same_wherever_it_is_read(
    run: Run, folder: Path, writer: str | None, reader: str | None
) -> None:
    file = mapping_file(run, folder, writer)
    meant = lines(file)
    assert set(meant) == set(WORDS)
    code, out, _ = run("map", "people.csv", "job", "--use", file.name, "--json", *within(reader))
    assert (code, {e["value"]: e["id"] for e in json.loads(out)["mapped"]}) == (0, meant)
    assert run("map", "people.csv", "job", "--use", file.name, "--output", "again.csv", "--quiet")[0] == 0
    assert lines(folder / "again.csv") == meant

    build = ("hierarchy", "build", "people.csv", "job", "-t", "wordnet", "--use", file.name, "-o", "again.json")
    code, _, err = run(*build, "--quiet", *within(reader))
    run_code, _, run_err = run("run", str(project(folder, mapping=file.name, domain=reader)), "--quiet")
    if reader is not None and not all(wordnet().is_a(concept, reader) for concept in meant.values()):
        for end, said in ((code, err), (run_code, run_err)):
            assert (end, "is no kind of 'person', the domain of the column" in said) == (2, True)
        return
    assert (code, run_code) == (0, 0), err + run_err
    assert {label: concept for label, concept in ids(folder / "again.json") if label in WORDS} == meant
    words = Meaning({"job": Column(taxonomy="wordnet", domain=reader, mapping=file.name)}, folder)
    mapped = words.mapping("job", dict.fromkeys(WORDS, 12))
    assert {value: mapped.taxonomy.id(code) for value, code in mapped.concepts.items()} == meant


def test_a_truck_driver_stays_off_the_golf_course(run: Run, folder: Path) -> None:
    meant = lines(mapping_file(run, folder, "person"))
    nouns = wordnet()
    assert not nouns.is_a(meant["truck driver"], "golfer")
    part = Mapping.read(folder / "mapping-person.csv", nouns.below("person"))
    assert not part.taxonomy.is_a(part.concepts["truck driver"], "golfer")
    # numbers of senses are those of the whole taxonomy, which people see in it
    assert part.taxonomy.id("driver#3") == nouns.id("driver#3")
    assert part.labels[part.values.index("driver")].partition("#")[2] == str(
        nouns.senses_of("driver").tolist().index(nouns.code(meant["driver"])) + 1
    )


def test_an_edited_sense_wins_over_the_id(run: Run, folder: Path) -> None:
    file = written(run, folder, "person")["build"]
    document = json.loads(file.read_text(encoding="utf-8"))
    level = next(i for i, labels in enumerate(document["labels"]) if i and "coach" in labels)
    for labels in document["labels"][level:]:
        labels[:] = ["coach#2" if label == "coach" else label for label in labels]
    (folder / "edited.json").write_text(json.dumps(document), encoding="utf-8")
    tree = Meaning({"job": Column(taxonomy="wordnet", hierarchy="edited.json")}, folder).hierarchy("job", {"coach": 1})
    at = tree.labels[level].index("coach#2")
    assert tree.concepts is not None
    assert tree.concepts[level][at] == wordnet().code("coach#2")
    assert tree.concepts[0][tree.leaves.index("coach")] == wordnet().code("coach#1")


# ---- other taxonomies ------------------------------------------------------------------------------------------------

TREE = "child,parent\nnurse,medic\nsurgeon,medic\nmedic,worker\ndriver,worker\nclerk,worker\n"


def test_another_taxonomy_is_refused_and_the_own_one_is_found(run: Run, folder: Path) -> None:
    (folder / "mine.csv").write_text(TREE, encoding="utf-8")
    assert run("taxonomy", "import", "mine.csv", "--quiet")[0] == 0
    (folder / "few.csv").write_text("job\nnurse\nsurgeon\nclerk\ndriver\n", encoding="utf-8")
    assert run("hierarchy", "build", "few.csv", "job", "-t", "mine", "-o", "few.json", "--quiet")[0] == 0
    assert run("map", "few.csv", "job", "-t", "mine", "--output", "few-mapping.csv", "--quiet")[0] == 0
    for command in (("score",), ("explain",), ("improve", "-o", "better.json")):
        assert run("hierarchy", command[0], "few.json", *command[1:], "--quiet")[0] == 0, command
        code, _, err = run("hierarchy", command[0], "few.json", *command[1:], "-t", "wordnet", "--quiet")
        assert (
            code,
            "few.json: made with the taxonomy 'mine.csv', not with 'WordNet 3.0'; give the taxonomy" in err,
        ) == (
            2,
            True,
        )
    assert run("map", "few.csv", "job", "--use", "few-mapping.csv", "--quiet")[0] == 0
    code, _, err = run("map", "few.csv", "job", "--use", "few-mapping.csv", "-t", "wordnet")
    assert (code, "few-mapping.csv: made with the taxonomy 'mine.csv', not with 'WordNet 3.0'; give" in err) == (
        2,
        True,
    )
    code, _, err = run("hierarchy", "choose", "few.json", str(written(run, folder, None)["build"]), "--quiet")
    assert (code, "made with the taxonomy 'WordNet 3.0', not with 'mine.csv'" in err) == (2, True)

    # a taxonomy that has grown: the mapping of a person is carried over line by line, a hierarchy is built again
    (folder / "mine.csv").write_text(TREE + "baker,worker\n", encoding="utf-8")
    assert run("taxonomy", "import", "mine.csv", "--quiet")[0] == 0
    code, out, _ = run("map", "few.csv", "job", "-t", "mine", "--use", "few-mapping.csv", "--json")
    assert (code, len(json.loads(out)["mapped"])) == (0, 4)
    code, _, err = run("hierarchy", "score", "few.json", "--quiet")
    assert (code, "the taxonomy 'mine.csv' has changed since the file was made" in err) == (2, True)
    assert "convert it to CSV" in err
    assert run("hierarchy", "convert", "few.json", "few-again.csv", "--quiet")[0] == 0
    assert run("hierarchy", "score", "few-again.csv", "-t", "mine", "--quiet")[0] == 0

    # one whose ids now mean something else: no line is misread
    (folder / "ids.csv").write_text("id,parent,name\n1,,worker\n2,1,nurse\n3,1,clerk\n", encoding="utf-8")
    assert run("taxonomy", "import", "ids.csv", "--quiet")[0] == 0
    assert run("map", "few.csv", "job", "-t", "ids", "--output", "ids-mapping.csv", "--quiet")[0] == 0
    (folder / "ids.csv").write_text("id,parent,name\n1,,worker\n2,1,clerk\n3,1,nurse\n", encoding="utf-8")
    assert run("taxonomy", "import", "ids.csv", "--quiet")[0] == 0
    code, _, err = run("map", "few.csv", "job", "-t", "ids", "--use", "ids-mapping.csv")
    assert (code, "has changed since the file was made, and the concept" in err) == (2, True)


def test_a_taxonomy_that_is_not_here_has_to_be_given(run: Run, folder: Path) -> None:
    (folder / "own.csv").write_text(TREE, encoding="utf-8")
    (folder / "some.csv").write_text("job\nnurse\nsurgeon\nclerk\n", encoding="utf-8")
    assert run("hierarchy", "build", "some.csv", "job", "-t", "own.csv", "-o", "some.json", "--quiet")[0] == 0
    code, _, err = run("hierarchy", "score", "some.json", "--quiet")
    assert (code, "made with the taxonomy 'own.csv', which is not here; give it with --taxonomy" in err) == (2, True)
    assert run("hierarchy", "score", "some.json", "-t", "own.csv", "--quiet")[0] == 0


# ---- files as they were written before versions and fingerprints ----------------------------------------------------

CODES = (
    '{"format": "keepsense hierarchy", "version": 1, "name": "job", "kind": "nominal", '
    '"labels": [["nurse", "surgeon"], ["health professional"]], "parents": [[0, 0]], '
    '"concepts": [[4487, 6241], [3280]]}'
)
IDS = CODES.replace(
    "[[4487, 6241], [3280]]", '[["10366966-n", "10679174-n"], ["10165109-n"]], "taxonomy": "WordNet 3.0"'
)
EARLIER = (
    '"value","concept","label","how","rows","alternatives","description"\n'
    '"driver","10035430-n","driver#2","exact","1","driver#3 = driver, a kind of golfer","driver, a kind of worker"\n'
)


def test_files_of_earlier_versions_are_read_and_not_misread(run: Run, folder: Path) -> None:
    (folder / "codes.json").write_text(CODES, encoding="utf-8")
    (folder / "ids.json").write_text(IDS, encoding="utf-8")
    totals = []
    for name in ("codes.json", "ids.json"):
        code, out, _ = run("hierarchy", "score", name, "--json")
        assert code == 0
        totals.append(json.loads(out)["hierarchies"][0]["score"])
    assert totals[0] == pytest.approx(totals[1])
    assert run("hierarchy", "score", "ids.json", "-t", "oewn", "--quiet")[0] == 2
    (folder / "earlier.csv").write_text(EARLIER, encoding="utf-8")
    for taxonomy in (wordnet(), wordnet().below("person")):
        mapping = Mapping.read(folder / "earlier.csv", taxonomy)
        assert taxonomy.id(mapping.concepts["driver"]) == "10035430-n"


def test_files_of_later_versions_are_refused(run: Run, folder: Path) -> None:
    (folder / "later.json").write_text(CODES.replace('"version": 1', '"version": 3'), encoding="utf-8")
    assert "use a newer one" in run("hierarchy", "score", "later.json")[2]
    later = (
        mapping_file(run, folder, None).read_text(encoding="utf-8").replace("mapping, version 3", "mapping, version 4")
    )
    (folder / "later.csv").write_text(later, encoding="utf-8")
    assert "use a newer one" in run("map", "people.csv", "job", "--use", "later.csv")[2]
    (folder / "later.taxonomy").write_bytes(b"KEEPSENSE-TAXONOMY 2\n" + bytes(100))
    assert "use a newer one" in run("taxonomy", "show", "-t", "later.taxonomy")[2]


# ---- other formats, other readers, other knowledge -------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("ending", ["csv", "txt", "xml"])
def test_other_formats_are_judged_by_words_and_keep_their_shape(
    run: Run, folder: Path, ending: str, domain: str | None
) -> None:
    file = written(run, folder, domain)["build"]
    other = f"as-{domain}.{ending}"
    assert run("hierarchy", "convert", file.name, other, "--quiet")[0] == 0
    assert run("hierarchy", "convert", other, "back.json", "--quiet")[0] == 0
    there, back = (json.loads((folder / name).read_text(encoding="utf-8")) for name in (file.name, "back.json"))
    assert [sorted(map(str, level)) for level in back["labels"]] == [
        sorted(map(str, level)) for level in there["labels"]
    ]
    for command in ("score", "explain"):
        assert run("hierarchy", command, other, "-t", "wordnet", "--quiet")[0] == 0


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_lesson_takes_files_for_what_they_are(run: Run, folder: Path, domain: str | None) -> None:
    files = {"hierarchy": written(run, folder, domain)["build"].name, "mapping": mapping_file(run, folder, domain).name}
    for key, name in files.items():
        about = project(folder, domain=domain, **{key: name})
        code, out, err = run("explain", "datafly", "--project", str(about), "-k", "3", "--json")
        assert (code, err) == (0, "")
        assert "golfer" not in out


CODES_AND_PLACES = {
    "naics": ("naics", ["325412", "325411", "622110", "622210", "541511", "311811"], "Manufacturing"),
    "city": ("places", ["Springfield", "Aurora", "Peoria", "Columbus", "Dayton", "Toledo"], "Illinois"),
}


@pytest.mark.parametrize("column", CODES_AND_PLACES)
def test_codes_and_places_mean_the_same_in_every_command(run: Run, folder: Path, column: str) -> None:
    taxonomy, values, label = CODES_AND_PLACES[column]
    rows = [f"{value},{'IL' if i < 3 else 'OH'}" for i, value in enumerate(values)] * 4
    (folder / "codes.csv").write_text("\n".join([f"{column},state", *rows]) + "\n", encoding="utf-8")
    area = ["--within", "state"] if column == "city" else []
    table, known = ("codes.csv", column), ("-t", taxonomy)
    for name, options in (("guessed.json", []), ("said.json", [*known, *area])):
        assert run("hierarchy", "build", *table, *options, "-o", name, "--quiet")[0] == 0
        assert label in json.dumps(json.loads((folder / name).read_text(encoding="utf-8"))["labels"])
        for command in (["score"], ["explain"], ["improve", "-o", "better.json"]):
            assert run("hierarchy", command[0], name, *command[1:], "--quiet")[0] == 0, command
            assert run("hierarchy", command[0], name, *command[1:], *known, "--quiet")[0] == 0, command
    assert run("map", *table, *known, *area, "--output", "codes-mapping.csv", "--quiet")[0] == 0
    meant = lines(folder / "codes-mapping.csv")
    assert set(meant) == set(values)
    code, out, _ = run("map", *table, *known, "--use", "codes-mapping.csv", "--json")  # the file says it all
    assert (code, {e["value"]: e["id"] for e in json.loads(out)["mapped"]}) == (0, meant)
    for key, name in (("hierarchy", "said.json"), ("mapping", "codes-mapping.csv")):
        about = f'[columns.{column}]\nrole = "quasi-identifier"\ntaxonomy = "{taxonomy}"\n{key} = "{name}"\n'
        source = '[columns.state]\n[source]\npath = "codes.csv"\n[release]\nfolder = "coded"\n'
        promise = '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
        (folder / "codes.toml").write_text(about + source + promise, encoding="utf-8")
        code, _, err = run("run", "codes.toml", "--quiet")
        assert (code, err) == (0, ""), err
        assert label in (folder / "coded" / "codes.csv").read_text(encoding="utf-8")
