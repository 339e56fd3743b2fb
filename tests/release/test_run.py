"""A run from project file to verified release: what appears, what must not, and who stops it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.pins.terminal import keepsense
from tests.release.tables import project, write_jobs, write_people

from keepsense.counts import Counts
from keepsense.engines.protocol import engine
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.generalize.multidimensional_template import divide
from keepsense.methods.method import METHODS, method, registered
from keepsense.progress import Event
from keepsense.project.project_file import Project, check_project
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.release.folder.ledger import read_ledger
from keepsense.release.job.source import Source
from keepsense.release.run import STAGES, run
from keepsense.release.verify import verify_file
from keepsense.verification.check_result import Verification
from keepsense.verification.verifier import verify


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_people(tmp_path)
    write_jobs(tmp_path)
    return tmp_path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def left_behind(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*")} - {"people.csv", "jobs.csv"}


# ---- what appears ----------------------------------------------------------------------------------------------------


def test_a_release_is_whole_and_keeps_its_promise(folder: Path) -> None:
    events: list[Event] = []
    keep = {"suppression": 0.05, "suppressed": "keep"}
    done = run(project(release=keep), folder=folder, rng=1, listener=events.append)
    released = rows_of(done.file)
    assert list(released[0]) == ["sex", "age", "job", "illness"]
    assert len(released) == 120 - done.description["of them left out"]
    classes = Counter((r["sex"], r["age"], r["job"]) for r in released)
    hidden = classes.pop(("*", "*", "*"), 0)
    assert min(classes.values()) >= 4
    assert hidden <= 6
    assert Counter(r["illness"] for r in released) <= Counter(r["illness"] for r in rows_of(folder / "people.csv"))
    assert left_behind(folder) == {
        "release",
        "release/people.csv",
        "release/release.json",
        "release/private",
        "release/private/recoding.json",
        "ledger.jsonl",
    }
    assert [e.details["stage"] for e in events if e.name == "stage"] == list(STAGES)
    assert set(done.seconds) == set(STAGES)


def test_the_private_folder_is_for_its_owner_only(folder: Path) -> None:
    run(project(), folder=folder, rng=1)
    assert (folder / "release" / "private").stat().st_mode & 0o077 == 0
    assert (folder / "release" / "private" / "recoding.json").stat().st_mode & 0o077 == 0


def test_the_description_tells_promise_method_loss_and_risk(folder: Path) -> None:
    run(project(), folder=folder, rng=1)
    about = json.loads((folder / "release" / "release.json").read_text(encoding="utf-8"))
    assert about["promises"] == [{"model": "k-anonymity", "k": 4}]
    assert about["verified"] is True
    assert about["removed columns"] == 2
    assert about["method"]["name"] == "optimal"
    assert 0 < about["utility"]["certainty penalty"] < 1
    assert about["risk"]["before"]["prosecutor, highest"] == 1.0
    assert about["risk"]["after"]["prosecutor, highest"] <= 0.25
    assert set(about["hierarchies"]) == {"sex", "age", "job"}


def test_no_public_file_holds_the_seed_a_path_or_a_suppressed_value(folder: Path) -> None:
    """The falconer is the only one: suppressed, the word may stand nowhere a recipient looks."""
    seed = 987654321987
    given = project(
        columns={
            **{name: {"role": "identifier"} for name in ("id", "name")},
            "sex": {"role": "insensitive"},
            "age": {"role": "insensitive", "accept": "identifying"},
            "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
            "illness": {"role": "sensitive"},
        }
    )
    done = run(given, folder=folder, rng=seed)
    assert done.description["suppressed records"] == 1
    public = [p for p in (folder / "release").iterdir() if p.is_file()] + [folder / "ledger.jsonl"]
    assert {p.name for p in public} == {"people.csv", "release.json", "ledger.jsonl"}
    for path in public:
        text = path.read_text(encoding="utf-8")
        assert "falconer" not in text
        assert str(seed) not in text
        assert str(folder) not in text
        assert "Name7" not in text
        assert re.search(r"\bid\b|row_?(number|index)|__keepsense", text.split("\n", 1)[0]) is None


def test_the_seed_makes_runs_repeatable_and_is_not_kept(folder: Path) -> None:
    one = run(project(), folder=folder, rng=5).file.read_bytes()
    two = run(project(), folder=folder, rng=5).file.read_bytes()
    other = run(project(), folder=folder, rng=6).file.read_bytes()
    assert one == two != other
    private = (folder / "release" / "private" / "recoding.json").read_text(encoding="utf-8")
    assert "seed" not in private


def test_rows_are_shuffled_unless_told_otherwise(folder: Path) -> None:
    before = [r["illness"] for r in rows_of(folder / "people.csv")]
    asked = {"suppression": 0.05, "shuffle": False, "suppressed": "keep"}
    in_order = rows_of(run(project(release=asked), folder=folder, rng=1).file)
    # too few suppressed records to be a class are left out; the others stay in order
    rest = iter(before)
    assert all(row["illness"] in rest for row in in_order)
    del asked["shuffle"]
    shuffled = rows_of(run(project(release=asked), folder=folder, rng=1).file)
    assert shuffled != in_order
    assert sorted(shuffled, key=str) == sorted(in_order, key=str)


# ---- who stops it ----------------------------------------------------------------------------------------------------


@pytest.fixture
def cheats() -> Iterator[dict[str, Any]]:
    """Methods that lie about what they do; gone after the test."""
    known, spelled = dict(METHODS), dict(METHODS._spellings)
    honest = method("optimal")

    def cheat(name: str, runner: Any, **facts: Any) -> None:
        registered(replace(honest, name=f"cheat: {name}", aliases=(), runner=runner, alternative=None, **facts))

    def nothing(method: Any, plan: Any, parameters: Any, listener: Any) -> list[Any]:
        values = {name: plan.counts.values_of(name) for name in plan.quasi_identifiers}
        return [Cuts(tuple(Cut(name, tuple(v), tuple(v), 0) for name, v in values.items()))]

    def hides(method: Any, plan: Any, parameters: Any, listener: Any) -> list[Any]:
        cuts = tuple(plan.hierarchies[name].cut(0) for name in plan.quasi_identifiers)
        return [Cuts(cuts, frozenset(_tuples(plan)[:-5]))]

    def touches(method: Any, plan: Any, parameters: Any, listener: Any) -> list[Any]:
        tops = tuple(plan.hierarchies[n].cut(plan.hierarchies[n].height) for n in plan.quasi_identifiers)
        return [Cuts(tops), Cuts((Cut("illness", ("flu", "cold", "asthma"), ("flu", "flu", "flu")),))]

    cheat("as it was", nothing)
    cheat("hides too many", hides)
    cheat("says its mechanism is private", nothing, truthful=False, keeps=lambda plan, rules: ("k-anonymity",))
    cheat("touches what is preserved", touches)
    yield known
    METHODS._entries.clear()
    METHODS._entries.update(known)
    METHODS._spellings.clear()
    METHODS._spellings.update(spelled)


def _tuples(plan: Any) -> list[tuple[Any, ...]]:
    counts = plan.counts
    return [tuple(counts.values[j][c] for j, c in enumerate(row)) for row in counts.codes.tolist()]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("cheat: as it was", "E203"),
        ("cheat: says its mechanism is private", "E203"),
        ("cheat: hides too many", "E205"),
        ("cheat: touches what is preserved", "E207"),
    ],
)
def test_a_method_that_cheats_is_stopped_and_leaves_nothing(folder: Path, cheats: Any, name: str, code: str) -> None:
    with pytest.raises(Infeasible, match=code) as stopped:
        run(project(method={"name": name}), folder=folder, rng=1)
    assert stopped.value.relax
    assert left_behind(folder) == set()


def test_the_classes_that_fail_are_named_to_those_who_ask(folder: Path, cheats: Any) -> None:
    for asked in (False, True):
        with pytest.raises(Infeasible) as stopped:
            run(project(method={"name": "cheat: as it was"}), folder=folder, rng=1, show_values=asked)
        found = stopped.value.best
        assert isinstance(found, Verification)
        assert bool(found.examples) is asked
        assert "falconer" not in str(stopped.value)


def test_a_failed_run_leaves_the_earlier_release_alone(folder: Path, cheats: Any) -> None:
    first = run(project(), folder=folder, rng=1).file.read_bytes()
    with pytest.raises(Infeasible):
        run(project(method={"name": "cheat: as it was"}), folder=folder, rng=1)
    assert (folder / "release" / "people.csv").read_bytes() == first
    assert len(read_ledger(folder)) == 1


def test_verify_tells_a_good_file_from_a_tampered_one(folder: Path) -> None:
    done = run(project(), folder=folder, rng=1)
    assert verify_file(project(), done.file, folder=folder)[0].ok
    lines = done.file.read_text(encoding="utf-8").splitlines()
    lines[1] = 'f,"[1, 2]",pope,flu'
    done.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found, names = verify_file(project(), done.file, folder=folder)
    assert not found.ok
    assert names == ("sex", "age", "job")
    assert not found.examples
    seen, _ = verify_file(project(), done.file, folder=folder, show_values=True)
    assert ("f", "[1, 2]", "pope") in seen.examples


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"release": {"folder": "."}}, "overwrite its own source"),
        ({"release": {"file": "../out.csv"}}, "plain file name"),
        ({"method": {"name": "optimal", "parameters": {"metrik": "loss"}}}, "Did you mean metric"),
        ({"privacy": [{"model": "k-anonymity"}]}, "needs the parameter k"),
        ({"privacy": [{"model": "k-map", "k": 3}]}, r"\[population\]"),
        ({"privacy": [{"model": "l-diversity", "l": 2, "column": "job"}]}, "choose one role"),
        ({"columns": {"jobb": {"role": "quasi-identifier"}}}, "Did you mean job"),
        ({"columns": {"job": {"role": "quasi-identifier"}}}, "does not list"),
    ],
)
def test_contradictions_are_refused_before_anything_is_written(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        run(project(**changes), folder=folder)
    assert left_behind(folder) == set()


def test_a_hierarchy_by_its_loss_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadInput, match=r"columns\.job\.choose: .*keepsense hierarchy choose") as refused:
        check_project({"columns": {"job": {"role": "quasi-identifier", "choose": "loss"}}})
    assert refused.value.remedies[0].startswith("leave the key out")


@pytest.mark.parametrize(
    ("deleted", "instead"), [("Cell-Greedy", "local recoding"), ("optimal_local_suppression", "local suppression")]
)
def test_a_deleted_method_is_refused_with_the_one_to_use(folder: Path, deleted: str, instead: str) -> None:
    with pytest.raises(BadInput, match=f"no method '{deleted}' any more; use '{instead}'"):
        run(project(method={"name": deleted}), folder=folder)
    assert left_behind(folder) == set()


def test_an_impossible_goal_says_what_to_relax(folder: Path) -> None:
    with pytest.raises(Infeasible) as refused:
        run(project(privacy=[{"model": "k-anonymity", "k": 121}]), folder=folder)
    assert refused.value.relax
    assert left_behind(folder) == set()


# ---- a draft ---------------------------------------------------------------------------------------------------------


def test_a_drafted_run_takes_the_first_hierarchies_and_divides_the_table_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keepsense("sample", "people.csv", "--rows", "500", "--seed", "1", folder=tmp_path)
    keepsense("init", "people.csv", folder=tmp_path)
    divided: list[int] = []

    def counted(counts: Counts, *arguments: Any, **options: Any) -> Cells:
        divided.append(counts.total)
        return divide(counts, *arguments, **options)

    monkeypatch.setattr("keepsense.methods.generalize.semantic_mondrian.divide", counted)
    done = run(tmp_path / "keepsense.toml", rng=1)
    assert divided == [500]
    words = [tree.info["made"] for tree in done.job.hierarchies.values() if tree.concepts is not None]
    assert len(words) > 2
    assert set(words) == {"subsumers, up to 3 siblings listed"}


# ---- reuse -----------------------------------------------------------------------------------------------------------


def test_a_recoding_is_reused_on_next_months_file(folder: Path) -> None:
    first = run(project(), folder=folder, rng=1)
    again = run(project(), folder=folder, reuse=folder / "release/private/recoding.json", rng=2)
    assert again.description["classes"] == first.description["classes"]
    assert isinstance(again.recodings[0], Cuts)


def test_a_reused_recoding_refuses_where_the_promise_would_break(folder: Path) -> None:
    run(project(), folder=folder, rng=1)
    write_people(folder, rows=9)
    with pytest.raises(Infeasible, match="earlier release"):
        run(project(), folder=folder, reuse=folder / "release/private/recoding.json")
    astronauts = "".join(f"{i},A{i},f,20,xqzzt,flu\n" for i in range(9))
    (folder / "people.csv").write_text(f"id,name,sex,age,job,illness\n{astronauts}", encoding="utf-8")
    again = run(project(), folder=folder, reuse=folder / "release/private/recoding.json")
    assert [f.where for f in again.findings if f.code == "W422"] == ["job"], "jobs were released as they are"


@pytest.mark.parametrize("text", ["", "[]", "{}", '[{"form": "cuts"}]', "[[[[", '[{"form": "cells"}]'])
def test_a_damaged_recoding_is_refused(folder: Path, text: str) -> None:
    (folder / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput):
        run(project(), folder=folder, reuse=folder / "bad.json")


# ---- the ledger ------------------------------------------------------------------------------------------------------


def test_the_ledger_grows_warns_and_adds_up_budgets(folder: Path) -> None:
    assert not [f for f in run(project(), folder=folder, rng=1).findings if f.code == "W401"]
    assert [f for f in run(project(), folder=folder, rng=1).findings if f.code == "W401"]
    budget = Project.model_validate(
        {
            "source": {"path": "people.csv"},
            "unlisted": "drop",
            "columns": {"sex": {"role": "quasi-identifier", "order": ["f", "m"]}},
            "privacy": [{"model": "differential privacy", "epsilon": 1.5}],
            "method": {"name": "randomized response"},
        }
    )
    run(budget, folder=folder, rng=1)
    assert read_ledger(folder)[-1].epsilon == pytest.approx(1.5)
    warned = [f for f in run(budget, folder=folder, rng=1).findings if f.code == "W402"]
    assert "1.5" in warned[0].message


def test_a_rehearsal_is_not_entered(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    there = tmp_path_factory.mktemp("rehearsal")
    done = run(project(), folder=folder, into=there, rng=1)
    assert done.file == there / "people.csv"
    assert left_behind(folder) == set()


# ---- roles, populations, missing cells -------------------------------------------------------------------------------


def test_a_population_is_counted_recoded_and_verified(folder: Path) -> None:
    write_people(folder, rows=360, name="everybody.csv")
    given = project(population={"path": "everybody.csv"}, privacy=[{"model": "k-map", "k": 5}])
    done = run(given, folder=folder, rng=1)
    assert done.verification.ok
    assert done.description["risk"]["after"]["journalist, highest"] <= 1 / 5
    assert done.description["risk"]["before"]["journalist, highest"] == 1.0
    held = [check for check in done.verification.checks if check.promise["model"] == "k-map"]
    assert held[0].worst is not None
    assert held[0].worst >= 5
    with pytest.raises(BadInput, match="rest of the population"):
        run(given.model_copy(update={"method": project(method={"name": "mondrian"}).method}), folder=folder)


def test_presence_is_promised_against_a_population(folder: Path) -> None:
    write_people(folder, rows=480, name="everybody.csv")
    given = project(
        population={"path": "everybody.csv"}, privacy=[{"model": "delta-presence", "lower": 0.0, "upper": 0.5}]
    )
    assert run(given, folder=folder, rng=1).verification.ok


def test_people_with_several_rows_are_counted_as_people(folder: Path) -> None:
    lines = ["who,job,illness"] + [f"{i // 4},{('nurse', 'clerk')[i // 4 % 2]},flu" for i in range(48)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {"who": {"role": "person"}, "job": {"role": "quasi-identifier"}, "illness": {"role": "insensitive"}}
    good = project(columns=columns, privacy=[{"model": "(X,Y)-anonymity", "k": 6, "person": "who"}])
    done = run(good, folder=folder, rng=1)
    assert done.verification.checks[0].worst == 6
    assert "who" not in rows_of(done.file)[0]
    assert not [f for f in done.findings if f.code == "W403"]
    rows = project(columns=columns, privacy=[{"model": "k-anonymity", "k": 6}])
    assert [f for f in run(rows, folder=folder, rng=1).findings if f.code == "W403"]


def test_sampling_weights_estimate_a_journalists_risk(folder: Path) -> None:
    text = "job,weight\n" + "nurse,10\n" * 6 + "clerk,2.5\n" * 6
    (folder / "people.csv").write_text(text, encoding="utf-8")
    columns = {"job": {"role": "quasi-identifier"}, "weight": {"role": "weight"}}
    done = run(project(columns=columns), folder=folder, rng=1)
    assert done.description["risk"]["before"]["journalist, highest, by sampling weights"] == pytest.approx(1 / 15)
    assert list(rows_of(done.file)[0]) == ["job", "weight"]


@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_missing_cells_stay_missing_or_become_a_category(folder: Path, missing: str) -> None:
    text = "job,age\n" + "nurse,31\n" * 6 + "clerk,32\n" * 6 + ",33\n" * 5
    (folder / "people.csv").write_text(text, encoding="utf-8")
    columns = {
        "job": {"role": "quasi-identifier", "missing": missing},
        "age": {"role": "quasi-identifier", "kind": "numeric", "missing": missing},
    }
    done = run(project(columns=columns), folder=folder, rng=1)
    assert done.verification.ok
    assert len(rows_of(done.file)) == 17
    assert "" in {r["job"] for r in rows_of(done.file)} or missing == "category"


K = [{"model": "k-anonymity", "k": 5}]
LINKAGE = [{"model": "linkage risk", "threshold": 1.0}]
PROMISE = {"rank swapping": LINKAGE, "post-randomization": LINKAGE}


class _Counted:
    """An engine that remembers which tables were counted, and whether it was closed."""

    def __init__(self) -> None:
        self.inner, self.counted = engine(), list[tuple[str, ...]]()

    def count(self, table: Any, columns: Sequence[str], **further: Any) -> Counts:
        self.counted.append(tuple(columns))
        return self.inner.count(table, columns, **further)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("method", ["optimal", "mondrian", "rank swapping", "post-randomization"])
def test_rows_are_counted_once_before_and_once_after(tmp_path: Path, method: str) -> None:
    write_people(tmp_path)
    write_jobs(tmp_path)
    rows = _Counted()
    given = {"parameters": {"k": 5}} if method == "rank swapping" else {}
    job = project(method={"name": method, **given}, release={"suppression": 0.1}, privacy=PROMISE.get(method, K))
    assert run(job, folder=tmp_path, rng=1, engine=rows).verification.ok
    every = [columns for columns in rows.counted if set(columns) >= {"sex", "age", "job"}]
    assert len(every) == 2, rows.counted  # besides, what an unchanged column tells of a hidden one is a pair
    assert all(len(columns) == 2 for columns in rows.counted if columns not in every)
    assert rows.inner.read({"a": [1]}).rows == 1, "an engine that was given stays open"
    rows.inner.close()


def test_fewer_columns_are_added_up_and_not_counted_again(tmp_path: Path) -> None:
    write_people(tmp_path)
    rows = _Counted()
    source = Source(project(), tmp_path, rows)
    source.count(["sex", "age", "job"], histograms=["illness"])
    fewer = source.count(["job", "sex"], histograms=["illness"])
    assert len(rows.counted) == 1
    again = rows.count(source.table, ["job", "sex"], histograms=["illness"])
    assert (fewer.codes == again.codes).all()
    assert (fewer.weights == again.weights).all()
    assert fewer.values == again.values
    assert (fewer.histograms["illness"].counts == again.histograms["illness"].counts).all()
    rows.inner.close()


def test_a_frame_is_released_and_verified_like_a_file(tmp_path: Path) -> None:
    """The same rows in memory give the same release; its columns keep their types where nothing was recoded."""
    ages = [20 + i % 10 for i in range(60)]
    frame = pa.table({"id": list(range(60)), "age": ages, "score": [i / 4 for i in range(60)]})
    columns = {
        "id": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "score": {"role": "insensitive", "accept": "identifying"},
    }
    job = Project.model_validate({"columns": columns, "privacy": K})
    done = run(job, data=frame, folder=tmp_path, into=tmp_path / "made", rng=1)
    assert done.verification.ok
    assert done.file == tmp_path / "made" / "released.parquet"
    released = pq.read_table(done.file)
    assert released.column_names == ["age", "score"]
    assert released.schema.field("score").type == pa.float64()
    assert sorted(released.column("score").to_pylist()) == frame.column("score").to_pylist()
    assert not (tmp_path / "ledger.jsonl").exists()
    with pytest.raises(BadInput, match="names no source"):
        run(job, folder=tmp_path)


def test_the_project_file_chooses_the_engine(tmp_path: Path) -> None:
    write_people(tmp_path)
    write_jobs(tmp_path)
    for chosen in ("duckdb", {"name": "duckdb", "memory": "512MB", "threads": 1}):
        assert run(project(engine=chosen), folder=tmp_path, into=tmp_path / "tried").verification.ok
    with pytest.raises(BadInput, match="no engine is called 'dukdb'"):
        run(project(engine="dukdb"), folder=tmp_path)
    with pytest.raises(BadInput, match="no engine is called 'sparc'"):
        run(project(), folder=tmp_path, engine="sparc")


@pytest.mark.parametrize("method", ["mondrian", "local recoding"])
@pytest.mark.parametrize("choice", ["auto", "keep"])
def test_a_group_generalized_to_the_top_is_not_suppressed(tmp_path: Path, method: str, choice: str) -> None:
    """a and b have nothing in common but everything: a class of two that keeps its promise, though nobody may go."""
    (tmp_path / "people.csv").write_text("job,illness\n" + "".join(f"{job},flu\n" for job in "abccc"), encoding="utf-8")
    (tmp_path / "jobs.csv").write_text("a;*\nb;*\nc;*\n", encoding="utf-8")
    columns = {"job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"}, "illness": {"role": "insensitive"}}
    keys = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": method}}
    done = run(project(**keys, release={"suppressed": choice}), folder=tmp_path, rng=1)
    assert sorted(done.file.read_text(encoding="utf-8").split()[1:]) == ["*,flu", "*,flu", "c,flu", "c,flu", "c,flu"]
    assert verify_file(project(**keys), done.file, folder=tmp_path)[0].ok
    promise = [{"model": "k-anonymity", "k": 2}]
    assert verify(done.file, promise, quasi_identifiers=["job"], suppression=0.0, starred="class").ok
    assert "E205" in {
        finding.code for finding in verify(done.file, promise, quasi_identifiers=["job"], suppression=0.0).findings
    }
    broken = {"job": ["*", "c", "c"], "illness": ["flu"] * 3}  # a class of its own all the same
    assert not verify(broken, promise, quasi_identifiers=["job"], starred="class").ok


def test_a_limit_holds_for_methods_that_suppress(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("job,illness\n" + "".join(f"{job},flu\n" for job in "abccc"), encoding="utf-8")
    (tmp_path / "jobs.csv").write_text("a;*\nb;*\nc;*\n", encoding="utf-8")
    columns = {"job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"}, "illness": {"role": "insensitive"}}
    keys = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": "local suppression"}}
    with pytest.raises(Infeasible, match="E205"):
        run(project(**keys, release={"suppression": 0.2}), folder=tmp_path, rng=1)


@pytest.mark.parametrize(("share", "suppressed"), [(0.03, 3), (0.029, 0)])
def test_exactly_as_many_records_are_suppressed_as_the_project_allows(
    share: float, suppressed: int, tmp_path: Path
) -> None:
    """Three of a hundred are alone: where only two may be suppressed, jobs are generalized instead."""
    jobs = ["nurse"] * 50 + ["clerk"] * 47 + ["surgeon", "dentist", "baker"]
    columns = {"job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"}, "sex": {"role": "quasi-identifier"}}
    write_jobs(tmp_path)
    plan = project(source=None, columns=columns, release={"suppression": share, "file": "people.csv"})
    done = run(plan, data={"job": jobs, "sex": ["f"] * 100}, folder=tmp_path, rng=1)
    assert done.description["suppressed records"] == suppressed
    assert {row["job"] for row in rows_of(done.file)} == ({"nurse", "clerk"} if suppressed else {"medic", "worker"})
