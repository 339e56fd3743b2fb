"""The command line, driven as people and scripts drive it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keepsense import __version__, cli, sample_people
from keepsense.errors import Finding, Infeasible, KeepsenseError, PrivacyWarning
from keepsense.hierarchies.hierarchy import MissingValues
from keepsense.taxonomy.formats import taxonomy_library


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line inside this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEEPSENSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.delenv(cli.TRACEBACK, raising=False)

    def command(*words: str) -> Outcome:
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Outcome(int(end.value.code or 0), captured.out, captured.err)

    return command


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A small table of words."""
    path = tmp_path / "jobs.csv"
    path.write_text(
        "who,job,likes\n1,nurse,tea;novel\n2,Nurses,novel\n3,qwertyzz,\n4,bank clerk,tea\n", encoding="utf-8"
    )
    return path


# ---- the installed command -------------------------------------------------------------------------------------------


def test_the_installed_command_answers() -> None:
    script = Path(sys.executable).with_name("keepsense")
    if not script.exists():
        pytest.skip("the keepsense script is not installed beside this Python")
    version = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"keepsense {__version__}\n"
    helped = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    for command in ("demo", "sample", "map", "distance", "taxonomy", "version"):
        assert f" {command} " in helped.stdout


def restore_ctrl_c() -> None:
    """A shell that runs the tests in the background lets them, and what they start, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_with_130_and_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "keepsense", "sample", "people.csv", "--rows", "500000000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=restore_ctrl_c,
    )
    try:
        deadline = time.monotonic() + 60
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(tmp_path.iterdir()), "the command never began to write"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()  # it would go on writing for hours
    assert process.returncode == cli.INTERRUPTED
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []


# ---- options of loaders ----------------------------------------------------------------------------------------------


def test_import_takes_the_options_that_its_messages_ask_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("id,parent,title\nn,m,nurse\nm,w,medic\nx,,top\n", encoding="utf-8")
    refused = run("taxonomy", "import", "jobs.csv", "--join-roots")
    assert (refused.code, "allow it with --option closed=no" in refused.err) == (2, True)
    done = run("taxonomy", "import", "jobs.csv", "--join-roots", "--option", "closed=no", "--json")
    assert (done.code, done.json["concepts"]) == (0, 5)

    (tmp_path / "codes.csv").write_text("which,says\n32,Manufacturing\n325,Chemicals\n", encoding="utf-8")
    refused = run("taxonomy", "import", "codes.csv", "--format", "prefixes")
    assert (refused.code, "--option scheme=" in refused.err) == (2, True)
    options = ("--option", "scheme=naics", "--option", "code=which", "--option", "title=1")
    done = run("taxonomy", "import", "codes.csv", "--format", "prefixes", *options, "--json")
    assert (done.code, done.json["root"]) == (0, "Manufacturing")
    done = run(
        "taxonomy", "import", "codes.csv", "--format", "prefixes", "--option", "lengths=2,3", *options[2:], "--json"
    )
    assert (done.code, done.json["concepts"]) == (0, 2)

    (tmp_path / "levels.csv").write_text("a;b\nc;d\n", encoding="utf-8")
    refused = run("taxonomy", "import", "levels.csv", "--format", "nested")
    assert (refused.code, "--option order=root-first or --option order=leaf-first" in refused.err) == (2, True)
    told = ("--option", "order=root-first", "--option", "header=no", "--join-roots")
    assert run("taxonomy", "import", "levels.csv", "--format", "nested", *told).code == 0

    unknown = run("taxonomy", "import", "jobs.csv", "--option", "closd=no")
    assert (unknown.code, "Did you mean closed?" in unknown.err) == (2, True)
    assert "is not key=value" in run("taxonomy", "import", "jobs.csv", "--option", "closed").err
    assert "closed: say yes or no" in run("taxonomy", "import", "jobs.csv", "--option", "closed=perhaps").err


def test_import_takes_a_language_and_a_namespace(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    (tmp_path / "pets.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <http://example.org/> .\n"
        ':a a skos:Concept ; skos:prefLabel "animal"@en, "Tier"@de .\n'
        ':c a skos:Concept ; skos:prefLabel "cat"@en, "Katze"@de ; skos:broader :a .\n',
        encoding="utf-8",
    )
    done = run("taxonomy", "import", "pets.ttl", "--option", "language=de", "--json")
    assert (done.code, done.json["root"]) == (0, "Tier")
    (tmp_path / "tiere.csv").write_text("tier\nKatze\nKätzchen\nHündin\nVögel ohne Nest\n", encoding="utf-8")
    english = run("map", "tiere.csv", "tier")
    assert "guessed: no taxonomy fits: these words are not English; import one in their language" in english.out
    english = run("map", "tiere.csv", "tier", "--taxonomy", "wordnet")
    assert "tier: these words are not English, and WordNet 3.0 is; import a taxonomy in their language" in english.err
    german = run("map", "tiere.csv", "tier", "--taxonomy", "pets", "--json")
    assert "not English" not in german.err
    assert [word["value"] for word in german.json["mapped"]] == ["Katze"]
    (tmp_path / "berufe.csv").write_text("kind,parent\nArzt,Beruf\nKoch,Beruf\n", encoding="utf-8")
    told = ("--option", "child=kind", "--option", "language=de")
    assert run("taxonomy", "import", "berufe.csv", *told, "--quiet").code == 0
    assert taxonomy_library.find("berufe").info["language"] == "de"
    term = "[Term]\nid: {0}\nname: {0}\nnamespace: {1}\n\n"
    terms = term.format("A:1", "one") + term.format("B:1", "two") + term.format("B:2", "two") + "is_a: B:1\n"
    (tmp_path / "two.obo").write_text("format-version: 1.2\n\n" + terms.replace("\n\nis_a", "\nis_a"), encoding="utf-8")
    done = run("taxonomy", "import", "two.obo", "--option", "namespace=two", "--json")
    assert (done.code, done.json["concepts"]) == (0, 2)


# ---- what every command promises -------------------------------------------------------------------------------------


def every_command(node: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    inner = getattr(node, "commands", None)
    if inner is None:
        return [(path, node)]
    return [found for name in sorted(inner) for found in every_command(inner[name], (*path, name))]


def commands() -> list[tuple[tuple[str, ...], Any]]:
    from typer.main import get_command

    return every_command(get_command(cli.app))


@pytest.mark.parametrize("path", [path for path, _ in commands()], ids=" ".join)
def test_every_command_has_json_and_explains_all_it_takes(path: tuple[str, ...]) -> None:
    command = dict(commands())[path]
    options = {option for parameter in command.params for option in parameter.opts}
    assert "--json" in options
    assert path == ("version",) or "--quiet" in options
    assert command.help
    assert all(p.help for p in command.params), [p.name for p in command.params if not p.help]


@pytest.mark.parametrize("path", [path for path, _ in commands()], ids=" ".join)
def test_every_command_answers_help(run: Run, path: tuple[str, ...]) -> None:
    assert run(*path, "--help").code == cli.DONE


def test_quiet_prints_nothing(run: Run, jobs: Path) -> None:
    for words in (
        ("sample", "p.csv", "--rows", "10"),
        ("map", "jobs.csv", "job"),
        ("distance", "cat", "dog", "-d", "path"),
        ("taxonomy", "list"),
    ):
        assert run(*words, "--quiet") == Outcome(cli.DONE, "", "")


# ---- exit codes ------------------------------------------------------------------------------------------------------


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(sample_people, "write_people", fail)


def test_a_mistake_of_the_user_is_one_line_and_exit_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, KeepsenseError("people.csv: no room; choose another disk"))
    assert run("sample", "people.csv") == Outcome(
        cli.BAD_INPUT, "", "keepsense: people.csv: no room; choose another disk\n"
    )
    outcome = run("sample", "people.csv", "--json")
    assert outcome.json == {
        "error": "people.csv: no room; choose another disk",
        "exit": 2,
        "code": "error",
        "column": None,
        "remedies": ["choose another disk"],
    }


def test_a_goal_that_cannot_be_met_is_exit_1_and_says_what_to_relax(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, Infeasible("k = 5 cannot be met", relax=("allow 2% suppression",)))
    outcome = run("sample", "people.csv")
    assert outcome.code == cli.GOAL_NOT_MET
    assert outcome.err == "keepsense: k = 5 cannot be met\n  you could: allow 2% suppression\n"


def test_an_error_names_its_code_its_column_and_its_remedies(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, MissingValues("column 'job' has 2 values (the error's `values` lists them)", ["a", "b"]))
    told = run("sample", "people.csv", "--json").json
    assert told == {
        "error": "column 'job' has 2 values",
        "exit": 2,
        "code": "bad-hierarchy",
        "column": "job",
        "remedies": [],
    }
    verification = SimpleNamespace(findings=[Finding("W211", "x", "y"), Finding("E203", "x", "y")])
    failing(monkeypatch, Infeasible("it broke", best=verification, relax=("allow more suppression",)))
    told = run("sample", "people.csv", "--json").json
    assert (told["exit"], told["code"], told["remedies"]) == (1, "E203", ["allow more suppression"])


@pytest.mark.parametrize(
    "words", [("run", "--nonsense"), ("verify",), ("sample", "x", "--rows", "many"), ("nonsense",)]
)
def test_usage_errors_are_json_too(run: Run, words: tuple[str, ...]) -> None:
    outcome = run(*words, "--json")
    assert (outcome.code, outcome.json["exit"], outcome.json["code"]) == (2, 2, "usage")
    assert outcome.json["error"] in outcome.err
    assert run(*words).out == ""  # and people see them as ever


PROJECT = """
source.path = "january.csv"
columns.job.role = "quasi-identifier"
privacy = [{ model = "k-anonymity", k = 2 }]
"""


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("nonsense", "'nonsense' sets nothing"),
        ("privacy.3.k=5", "the list has 1 entries"),
        ("methd.name=datafly", "Did you mean method?"),
        ("release.suppression=lots", "release.suppression"),
        ("source.path.x=1", "below a key that is no section"),
        ("a b=1", "is no key of a project file"),
    ],
)
def test_settings_that_make_no_sense_are_refused(run: Run, tmp_path: Path, setting: str, complaint: str) -> None:
    (tmp_path / "keepsense.toml").write_text(PROJECT)
    outcome = run("run", "--set", setting)
    assert outcome.code == cli.BAD_INPUT
    assert complaint in outcome.err


def test_a_run_with_another_source_place_and_key(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "project"
    home.mkdir()
    (home / "keepsense.toml").write_text(PROJECT)
    (tmp_path / "february.csv").write_text("job\n" + "nurse\n" * 6 + "clerk\n" * 3)
    words = ("run", "project/keepsense.toml", "--source", "february.csv", "--json", "--output")
    done = run(*words, "out/published.csv", "--set", "privacy.0.k=3")
    assert (done.code, done.json["promises"]) == (0, [{"model": "k-anonymity", "k": 3}])
    assert done.json["classes"] == 2
    assert (tmp_path / "out" / "published.csv").is_file()
    assert run(*words, "folder", "--set", "privacy.0.k=4").json["classes"] == 1  # three clerks are too few
    assert (tmp_path / "folder" / "february.csv").is_file()
    assert not (home / "release").exists()


def test_schemas_of_what_commands_print(run: Run) -> None:
    assert "verified" in run("schema", "--of", "run").json["properties"]
    assert "remedies" in run("schema", "--of", "error").json["properties"]
    assert "Did you mean verify" in run("schema", "--of", "verfy").err


def test_a_bug_is_exit_3_and_shows_no_data(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, ValueError("Ann Example has gout"))
    outcome = run("sample", "people.csv")
    assert outcome.code == cli.BUG
    assert "bug in Keepsense (ValueError at commands/sample_command.py:" in outcome.err
    assert "gout" not in outcome.err + outcome.out


def test_a_refusal_of_the_system_is_exit_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, OSError(28, "No space left on device", "/full/people.csv"))
    assert run("sample", "people.csv").err == "keepsense: people.csv: No space left on device\n"


def test_an_interrupt_is_exit_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    assert run("sample", "people.csv").code == cli.INTERRUPTED


def test_a_warning_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    def warn(*_: object) -> None:
        warnings.simplefilter("always")
        warnings.warn("only k is promised", PrivacyWarning, stacklevel=1)

    monkeypatch.setattr(sample_people, "write_people", warn)
    assert run("sample", "people.csv", "--quiet").err == "keepsense: warning: only k is promised\n"


@pytest.mark.parametrize("words", [("nonsense",), ("distance", "cat"), ("sample", "x.csv", "--rows", "many"), ()])
def test_wrong_usage_is_exit_2(run: Run, words: tuple[str, ...]) -> None:
    assert run(*words).code == cli.BAD_INPUT


# ---- the commands ----------------------------------------------------------------------------------------------------


def test_version(run: Run) -> None:
    assert run("version").out == f"keepsense {__version__}\n"
    assert run("version", "--json").json == {"version": __version__}


def test_sample_writes_a_table(run: Run, tmp_path: Path) -> None:
    outcome = run("sample", "people.csv", "--rows", "25", "--seed", "3", "--json")
    assert outcome.json["rows"] == 25
    with (tmp_path / "people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 25
    assert list(rows[0]) == outcome.json["columns"]
    again = (tmp_path / "people.csv").read_bytes()
    run("sample", "people.csv", "--rows", "25", "--seed", "3")
    assert (tmp_path / "people.csv").read_bytes() == again
    assert run("sample", "people.xls").code == cli.BAD_INPUT


def test_distance_of_two_words(run: Run) -> None:
    found = run("distance", "swimming", "surfing", "--json").json
    assert found["common"] == "water sport"
    assert found["distances"]["path"] == 2.0
    assert set(found["distances"]) > {"wu-palmer", "lin", "log-feature"}
    one = run("distance", "coach#1", "coach#5", "--distance", "wu-palmer", "--json").json
    assert set(one["distances"]) == {"wu-palmer"}
    old = run("distance", "coach#1", "coach#5", "--measure", "Wu Palmer", "--json")
    assert (old.json, "--distance" in old.err) == (one, True), "the old spelling is understood, and says the new one"
    shown = run("distance", "swimming", "surfing").out
    assert "both are a kind of water sport" in shown
    assert "wu-palmer" in shown


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("distance", "swimmming", "surfing"), "Did you mean swimming"),
        (("distance", "cat", "dog", "--distance", "wu-palmr"), "Did you mean wu-palmer?"),
        (("distance", "cat", "dog", "--taxonomy", "wordnett"), "Did you mean wordnet?"),
        (("map", "jobs.cvs", "job"), "jobs.cvs"),
        (("map", "jobs.csv", "liks"), "Did you mean likes?"),
        (("map", "jobs.csv", "job", "--senses", "best"), "first"),
        (("map", "jobs.csv", "job", "--domain", "persom"), "Did you mean person"),
        (("map", "jobs.csv", "job", "--use", "nowhere.csv"), "nowhere.csv"),
        (("taxonomy", "show", "nursee"), "Did you mean nurse"),
        (("taxonomy", "import", "nowhere.obo"), "nowhere.obo"),
        (("taxonomy", "import", "jobs.csv", "--name", "wordnet"), "embedded"),
        (("taxonomy", "import", "jobs.csv", "--name", "../jobs"), "--name"),
    ],
)
def test_bad_input_is_named_with_what_to_do(run: Run, jobs: Path, words: tuple[str, ...], hint: str) -> None:
    outcome = run(*words)
    assert outcome.code == cli.BAD_INPUT
    assert outcome.err.startswith("keepsense: ")
    assert len(outcome.err.splitlines()) == 1
    assert hint in outcome.err


def test_map_lists_what_is_mapped_and_what_is_not(run: Run, jobs: Path) -> None:
    found = run("map", "jobs.csv", "job", "--json").json
    assert {entry["value"]: entry["label"] for entry in found["mapped"]} == {
        "nurse": "nurse#1",
        "Nurses": "nurse#1",
        "bank clerk": "bank clerk",
    }
    assert [entry["value"] for entry in found["unmapped"]] == ["qwertyzz"]
    assert found["rows_mapped"] == 0.75
    shown = run("map", "jobs.csv", "job").out
    assert "3 of 4 values mapped" in shown
    assert "qwertyzz" in shown


def test_map_goes_by_the_taxonomy_that_a_draft_would_take(run: Run, tmp_path: Path) -> None:
    words = ["blogger", "influencer", "nurse", "teacher", "plumber", "surgeon"]
    (tmp_path / "today.csv").write_text("\n".join(["job", *words]), encoding="utf-8")
    (drafted,) = run("inspect", "today.csv", "--json").json["columns"]
    found = run("map", "today.csv", "job", "--json").json
    assert (found["taxonomy"], found["unmapped"]) == ("Open English WordNet 2026", [])
    assert drafted["taxonomy"]["name"] == "oewn"
    assert "guessed: oewn names 100% of the values" in run("map", "today.csv", "job").out
    older = run("map", "today.csv", "job", "--taxonomy", "wordnet", "--json").json
    assert [entry["value"] for entry in older["unmapped"]] == ["influencer"]
    assert any("keepsense map FILE job --taxonomy wordnet --output" in entry["message"] for entry in older["findings"])


def test_map_takes_back_the_file_a_person_edited(run: Run, jobs: Path, tmp_path: Path) -> None:
    assert run("map", "jobs.csv", "job", "--output", "senses.csv").code == cli.DONE
    with (tmp_path / "senses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["value"] == "qwertyzz":
            row["label"] = "plumber"
    with (tmp_path / "senses.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found = run("map", "jobs.csv", "job", "--use", "senses.csv", "--json").json
    assert found["unmapped"] == []
    assert {e["value"]: e["label"] for e in found["mapped"]}["qwertyzz"] == "plumber"


def test_map_splits_cells_that_hold_sets(run: Run, jobs: Path) -> None:
    found = run("map", "jobs.csv", "likes", "--separator", ";", "--json").json
    assert {entry["value"]: entry["rows"] for entry in found["mapped"]} == {"tea": 2, "novel": 2}


def test_map_reads_parquet(run: Run) -> None:
    run("sample", "people.parquet", "--rows", "200")
    found = run("map", "people.parquet", "place", "--domain", "location", "--json").json
    assert found["rows_mapped"] > 0.9


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"job\n", "holds no values"),
        (b"job,x\n,1\n,2\n", "holds no values"),
        (b"job\x00\xff\xfe\x81" * 50, "bad.csv"),
    ],
)
def test_a_broken_table_is_named(run: Run, tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    outcome = run("map", "bad.csv", "job")
    assert outcome.code == cli.BAD_INPUT
    assert outcome.err.splitlines()[-1].startswith("keepsense: bad.csv: ")
    assert reason in outcome.err


def test_map_reads_what_an_office_program_wrote(run: Run, tmp_path: Path) -> None:
    (tmp_path / "office.csv").write_bytes("job;pay\nbr\u00fccke;1\nnurse;2\n".encode("latin-1"))
    found = run("map", "office.csv", "job", "--json").json
    assert [entry["value"] for entry in found["mapped"]] == ["nurse"]
    assert [entry["value"] for entry in found["unmapped"]] == ["br\u00fccke"]


def test_map_says_that_numbers_are_no_words(run: Run, tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("age\n31\n47\n52\n", encoding="utf-8")
    outcome = run("map", "numbers.csv", "age")
    assert outcome.code == cli.GOAL_NOT_MET
    assert "looks numeric" in outcome.out


def test_taxonomies_are_imported_listed_shown_and_searched(run: Run, tmp_path: Path) -> None:
    inside = [t["name"] for t in run("taxonomy", "list", "--json").json["taxonomies"]]
    assert inside[0] == "wordnet"
    (tmp_path / "pets.csv").write_text("child,parent\ncat,animal\ndog,animal\npug,dog\n", encoding="utf-8")
    assert run("taxonomy", "import", "pets.csv").out.startswith("pets: 4 concepts")
    assert [t["name"] for t in run("taxonomy", "list", "--json").json["taxonomies"]] == [*inside, "pets"]
    shown = run("taxonomy", "show", "pug", "--taxonomy", "pets", "--json").json
    assert shown["a kind of"] == ["dog"]
    assert shown["up to the root"] == ["pug", "dog", "animal"]
    assert run("taxonomy", "show", "--taxonomy", "pets", "--json").json["concepts"] == 4
    assert run("distance", "pug", "cat", "-t", "pets", "-m", "path", "--json").json["distances"] == {"path": 3.0}
    assert run("distance", "pug", "cat", "-t", "pets.csv", "-m", "path", "--json").json["distances"] == {"path": 3.0}


def test_search_finds_names_parts_of_names_and_misspelled_names(run: Run) -> None:
    exact = run("taxonomy", "search", "bricklayer", "--json").json["found"]
    assert exact[0]["name"] == "bricklayer"
    part = run("taxonomy", "search", "BRICKL", "--limit", "2", "--json").json["found"]
    assert len(part) == 2
    near = run("taxonomy", "search", "brickleyer", "--json").json["found"]
    assert near[0]["name"] == "bricklayer"
    assert run("taxonomy", "search", "  ", "--json").json["found"] == []
    assert "bricklayer" in run("taxonomy", "search", "bricklayer").out


def test_showing_a_word_lists_its_other_senses(run: Run) -> None:
    shown = run("taxonomy", "show", "coach", "--json").json
    assert any(text.startswith("coach#5: ") for text in shown["other senses"])
    assert "coach#5" in run("taxonomy", "show", "coach").out


def test_demo_maps_measures_and_lists_what_is_left(run: Run) -> None:
    outcome = run("demo", "--rows", "1000", "--seed", "918273645")
    assert outcome.code == cli.DONE
    told = ("1,000 synthetic people", "semantic mean", "How far apart", "did you mean", "occupation")
    for part in (*told, "Verified and released", "shared by at least 5 records", "Risk of being recognized"):
        assert part in outcome.out
    assert "918273645" not in outcome.out + outcome.err, "a seed is a secret"


def test_demo_for_scripts(run: Run) -> None:
    found = run("demo", "--rows", "1000", "--json").json
    assert [c["column"] for c in found["columns"]][:2] == ["occupation", "workplace"]
    assert all(c["rows_mapped"] > 0.9 for c in found["columns"])
    near = found["distances"]
    assert near["nurse"]["physician"] < near["nurse"]["carpenter"]
    assert found["release"]["verified"] is True
    assert found["release"]["risk"]["after"]["prosecutor, highest"] <= 0.2
    assert found["release"]["file"] == "release/people.csv"


def test_demo_keeps_what_it_made_where_it_is_told(run: Run, tmp_path: Path) -> None:
    assert run("demo", "--rows", "300", "--keep", "mine", "--quiet") == Outcome(cli.DONE, "", "")
    kept = {p.relative_to(tmp_path / "mine").as_posix() for p in (tmp_path / "mine").rglob("*") if p.is_file()}
    assert {"people.csv", "keepsense.toml", "release/people.csv", "release/release.json"} <= kept


def test_help_is_plain_where_it_is_piped() -> None:
    environment = {**os.environ, "NO_COLOR": "1"}
    helped = subprocess.run(
        [sys.executable, "-m", "keepsense", "--help"], capture_output=True, text=True, check=True, env=environment
    )
    assert "\x1b[" not in helped.stdout


def test_a_taxonomy_file_with_several_tops_can_be_named(run: Run, tmp_path: Path) -> None:
    """Whoever names a file need not know that it has two tops; importing it says so."""
    terms = [("A:1", "animal", ""), ("A:2", "cat", "A:1"), ("B:1", "plant", ""), ("B:2", "oak", "B:1")]
    text = "format-version: 1.2\n"
    for code, name, above in terms:
        text += f"\n[Term]\nid: {code}\nname: {name}\n" + (f"is_a: {above}\n" if above else "")
    (tmp_path / "life.obo").write_text(text, encoding="utf-8")
    done = run("distance", "cat", "oak", "-t", "life.obo", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["common"] == "(everything)"


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        (("guide", "rank-swapping-of-n"), ["rank-swapping-of-numbers"]),
        (("explain", "semantic-m"), ["semantic-mondrian"]),
        (("distance", "nurse", "clerk", "--distance", "wu"), ["wu-palmer"]),
        (("hierarchy", "build", "people.csv", "age", "--kind", "n"), ["nominal", "numeric"]),
        (("taxonomy", "import", "file", "--format", "mes"), ["mesh"]),
    ],
)
def test_shells_complete_the_names_that_registries_hold(
    run: Run, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], proposed: list[str]
) -> None:
    monkeypatch.setenv("_KEEPSENSE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(("keepsense", *typed)))
    monkeypatch.setenv("COMP_CWORD", str(len(typed)))
    assert run().out.split() == proposed
