"""Every method that a project file can name makes a verified release, sets beside other columns included."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.release.tables import project

from keepsense.errors import BadInput, Infeasible
from keepsense.methods.method import METHODS, methods
from keepsense.methods.method import method as find_method
from keepsense.recoding import Cells
from keepsense.release.run import run

WORDS = ("cat", "dog", "horse", "bread", "milk", "tea")
JOBS = ("nurse", "surgeon", "baker", "clerk")


def write_table(folder: Path, rows: int = 80) -> None:
    """Numbers, dates, words that WordNet knows, an order, and sets of words."""
    rng = np.random.default_rng(5)
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["age", "born", "job", "size", "likes", "illness", "pay"])
        for i in range(rows):
            likes = ";".join(sorted(set(rng.choice(WORDS, 3).tolist())))
            born = f"19{50 + i % 30}-03-01"
            size = ("small", "middle", "large")[i % 3]
            table.writerow([20 + i % 30, born, JOBS[i % 4], size, likes, ("flu", "cold")[i % 2], i % 9])

    (folder / "sizes.csv").write_text("small;*\nmiddle;*\nlarge;*\n", encoding="utf-8")


COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "kind": "numeric"},
    "born": {"role": "identifier"},
    "job": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person", "hierarchy": "auto"},
    "size": {"role": "quasi-identifier", "kind": "ordinal", "order": ["small", "middle", "large"]},
    "likes": {"role": "quasi-identifier", "kind": "set", "taxonomy": "wordnet"},
    "illness": {"role": "target", "accept": "identifying"},  # every column follows from the row's number
    "pay": {"role": "insensitive", "kind": "numeric", "accept": "identifying"},
}
LINKAGE = {"model": "linkage risk", "threshold": 0.9}
NUMBERS = {"job": {"role": "identifier"}, "likes": {"role": "identifier"}}
WORDS_ONLY = {"age": {"role": "identifier"}, "size": {"role": "identifier"}, "likes": {"role": "identifier"}}
SETS_ONLY = {name: {"role": "insensitive", "accept": "identifying"} for name in ("age", "job", "size")}
PRIVATE = {**{name: {"role": "identifier"} for name in COLUMNS}}
SAFE = "differentially private generalization"
PROMISES: dict[str, Any] = {
    SAFE: {"model": "approximate differential privacy", "epsilon": 2.0, "delta": 0.1},
    "apriori sets": {"model": "k^m-anonymity", "k": 4, "m": 2, "column": "likes"},
    "disassociation": {"model": "k^m-anonymity of pieces", "k": 4, "m": 2, "column": "likes"},
    "semantic disassociation": {"model": "k^m-anonymity of pieces", "k": 4, "m": 2, "column": "likes"},
    "strict rank swapping": {"model": "probabilistic k-anonymity", "k": 4},
}
DRAWN = ("differential privacy", "semantic exponential mechanism", "randomized response", "noisy numbers")
LINKED = (
    "rank swapping",
    "rank swapping of tuples",
    "rank swapping by one ranking",
    "rank swapping of numbers",
    "noise",
    "correlated noise",
    "noise on numbers",
    "post-randomization",
    "individual ranking",
    "optimal univariate microaggregation",
)
PROMISES |= {name: {"model": "differential privacy", "epsilon": 4.0} for name in DRAWN}
PROMISES |= dict.fromkeys(LINKED, LINKAGE)
CHANGES: dict[str, Any] = {
    "lsd mondrian": {
        "illness": {"role": "insensitive"},
        "pay": {"role": "target", "kind": "numeric", "accept": "identifying"},
    },
    "semantic datafly": WORDS_ONLY,
    "semantic incognito": WORDS_ONLY,
    "rank swapping of numbers": NUMBERS,
    "noise on numbers": NUMBERS,
    "optimal univariate microaggregation": NUMBERS,
    "rank swapping by one ranking": {"likes": {"role": "identifier"}},
    "post-randomization": {"likes": {"role": "identifier"}},
    "individual ranking": {"likes": {"role": "identifier"}},
    "set microaggregation": SETS_ONLY,
    "apriori sets": SETS_ONLY,
    "top-down sets": SETS_ONLY,
    "disassociation": SETS_ONLY,
    "semantic disassociation": SETS_ONLY,
    "differential privacy": {**PRIVATE, "age": COLUMNS["age"], "job": COLUMNS["job"], "size": COLUMNS["size"]},
    "semantic exponential mechanism": {**PRIVATE, "job": COLUMNS["job"]},
    "randomized response": {**PRIVATE, "size": COLUMNS["size"]},
    "noisy numbers": {**PRIVATE, "age": COLUMNS["age"]},
    SAFE: {**PRIVATE, "size": {"role": "quasi-identifier", "hierarchy": "sizes.csv"}},
}
PARAMETERS: dict[str, Any] = {
    SAFE: {"levels": {"size": 0}},
    "rank swapping": {"k": 10},
    "rank swapping of tuples": {"k": 10},
    "rank swapping by one ranking": {"k": 10},
    "rank swapping of numbers": {"percent": 10},
    "individual ranking": {"k": 4},
    "optimal univariate microaggregation": {"k": 4},
    "differential privacy": {"bounds": {"age": [0, 120]}},
    "noisy numbers": {"bounds": {"age": [0, 120]}},
    "t-close microaggregation": {"t": 0.5, "sensitive": "illness"},
}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.filterwarnings("ignore:.* protects each column by itself")
@pytest.mark.parametrize("method", sorted(found.name for found in methods(in_projects=True)))
def test_every_method_makes_a_verified_release(tmp_path: Path, method: str) -> None:
    write_table(tmp_path)
    promise = PROMISES.get(method, {"model": "k-anonymity", "k": 4})
    columns = {**COLUMNS, **CHANGES.get(method, {})}
    job = project(
        columns=columns,
        privacy=[promise],
        method={"name": method, "parameters": PARAMETERS.get(method, {})},
        release={"suppression": 0.1},
    )
    done = run(job, folder=tmp_path, rng=1)
    released = rows_of(done.file)
    assert len(released) == 80 if method != SAFE else 16 <= len(released) <= 80
    asked = [name for name, column in columns.items() if column["role"] == "quasi-identifier"]
    if promise["model"] == "k-anonymity":
        classes = Counter(tuple(row[name] for name in asked) for row in released)
        hidden = classes.pop(("*",) * len(asked), 0)
        assert min(classes.values()) >= 4
        assert hidden <= 8
    if promise is LINKAGE or promise["model"] == "differential privacy":
        before = rows_of(tmp_path / "people.csv")
        assert Counter(tuple(row[n] for n in asked) for row in before) != Counter(
            tuple(row[n] for n in asked) for row in released
        )
    about = json.loads((tmp_path / "release" / "release.json").read_text(encoding="utf-8"))
    assert about["promises"][0]["model"] == promise["model"]


def test_names_are_found_however_their_words_are_joined() -> None:
    assert find_method("Rank-Swapping of_tuples").name == "rank swapping of tuples"
    assert find_method("semantic-mondrian").name == "semantic mondrian"
    assert find_method("microaggregation of sets") is find_method("set microaggregation")
    assert find_method("local") is find_method("local recoding")
    with pytest.raises(BadInput, match="Did you mean rank swapping"):
        find_method("rank swaping")


# ---- sets beside other columns ---------------------------------------------------------------------------------------


def baskets(folder: Path, rows: int, seed: int = 0, *, numbers: int = 3) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(seed)
    found = [
        (
            "fm"[int(rng.integers(2))] + str(int(rng.integers(numbers))),
            ";".join(sorted(set(rng.choice(WORDS, int(rng.integers(1, 4))).tolist()))),
            ("flu", "cold")[int(rng.integers(2))],
        )
        for _ in range(rows)
    ]
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("who", "likes", "illness"), *found])
    return found


BESIDE = {
    "who": {"role": "quasi-identifier"},
    "likes": {"role": "quasi-identifier", "kind": "set", "taxonomy": "wordnet"},
    "illness": {"role": "sensitive"},
}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), k=st.integers(2, 6), numbers=st.integers(1, 6))
def test_sets_are_shared_inside_the_classes_of_the_other_columns(
    tmp_path: Path, seed: int, k: int, numbers: int
) -> None:
    before = baskets(tmp_path, 60, seed, numbers=numbers)
    job = project(columns=BESIDE, privacy=[{"model": "k-anonymity", "k": k}], release={"suppression": 0.2})
    done = run(job, folder=tmp_path, rng=seed)
    after = rows_of(done.file)
    both = Counter((row["who"], row["likes"]) for row in after)
    hidden = both.pop(("*", "*"), 0)
    assert not both or min(both.values()) >= k
    assert hidden <= 12 or len(both) == 0
    assert all(item in (*WORDS, "*") for row in after for item in row["likes"].split(";"))
    gone = Counter(illness for *_, illness in before) - Counter(row["illness"] for row in after)
    assert gone.total() == done.description["of them left out"] <= 12
    assert "W405" in [finding.code for finding in done.findings]
    assert done.description["method"]["sets"]["name"] == "set microaggregation"


def test_promises_about_sensitive_values_leave_classes_undivided(tmp_path: Path) -> None:
    baskets(tmp_path, 120)
    promises = [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": "illness"}]
    done = run(project(columns=BESIDE, privacy=promises), folder=tmp_path, rng=1)
    sets: dict[str, set[str]] = defaultdict(set)
    for row in rows_of(done.file):
        sets[row["who"]].add(row["likes"])
    assert {len(found) for found in sets.values()} == {1}
    only_k = run(project(columns=BESIDE, privacy=promises[:1]), folder=tmp_path, rng=1)
    assert only_k.verification.classes > done.verification.classes


def test_several_set_columns_are_shared_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    lines = ["sex,likes,owns"]
    for i in range(80):
        cells = [";".join(sorted(set(rng.choice(WORDS, 2).tolist()))) for _ in range(2)]
        lines.append(f"{'fm'[i % 2]},{cells[0]},{cells[1]}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sets = {"role": "quasi-identifier", "kind": "set"}
    job = project(columns={"sex": {"role": "quasi-identifier"}, "likes": sets, "owns": sets})
    done = run(job, folder=tmp_path, rng=1)
    assert min(Counter(tuple(row.values()) for row in rows_of(done.file)).values()) >= 4
    assert [rule.names for rule in done.set_recodings] == [("likes",), ("owns",)]
    again = run(job, folder=tmp_path, rng=2, reuse=tmp_path / "release" / "private" / "recoding.json")
    assert again.verification.ok


def test_lists_in_parquet_are_sets_too(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    likes = [sorted(set(rng.choice(WORDS, 2).tolist())) for _ in range(60)]
    who = ["rare" if i == 5 else "fm"[i % 2] for i in range(60)]
    pq.write_table(pa.table({"who": who, "likes": likes}), tmp_path / "people.parquet")
    columns = {"who": {"role": "quasi-identifier"}, "likes": {"role": "quasi-identifier", "kind": "set"}}
    job = project(
        source={"path": "people.parquet"}, columns=columns, release={"suppression": 0.05, "suppressed": "keep"}
    )
    done = run(job, folder=tmp_path, rng=1)
    released = pq.read_table(done.file)
    assert pa.types.is_list(released.schema.field("likes").type)
    assert released.num_rows == 59, "one suppressed record is no class, and is left out"
    both = Counter((who, tuple(items)) for who, items in zip(*released.to_pydict().values(), strict=True))
    assert ("*", ("*",)) not in both
    assert min(both.values()) >= 4


def test_a_set_method_is_for_sets_and_others_are_named_apart(tmp_path: Path) -> None:
    baskets(tmp_path, 40)
    with pytest.raises(BadInput, match=r"\[set_method\]"):
        run(project(columns=BESIDE, method={"name": "set microaggregation"}), folder=tmp_path)
    with pytest.raises(BadInput, match="no method for sets"):
        run(project(columns=BESIDE, set_method={"name": "optimal"}), folder=tmp_path)
    with pytest.raises(BadInput, match="without other quasi-identifiers"):
        run(project(columns=BESIDE, set_method={"name": "top-down sets"}), folder=tmp_path)
    km = {"model": "k^m-anonymity", "k": 2, "m": 1, "column": "likes"}
    with pytest.raises(BadInput, match="only quasi-identifier"):
        run(project(columns=BESIDE, privacy=[km]), folder=tmp_path)
    with pytest.raises(BadInput, match="population"):
        run(project(columns=BESIDE, population={"path": "people.csv"}), folder=tmp_path)


def test_a_promise_about_items_is_verified_on_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set method that does nothing is found out by the verifier for sets."""
    baskets(tmp_path, 60)
    columns = {**BESIDE, "who": {"role": "insensitive"}}
    promise = {"model": "k^m-anonymity", "k": 8, "m": 2, "column": "likes"}
    job = project(columns=columns, privacy=[promise], method={"name": "apriori sets"})
    assert run(job, folder=tmp_path, rng=1).verification.ok

    def cheat(method: Any, job: Any, name: str, counts: Any, parameters: Any, listener: Any) -> Cells:
        values = counts.values_of(name)
        source = np.arange(len(counts))
        return Cells((name,), (values,), source, counts.codes.astype(np.int32), counts.weights)

    honest = find_method("apriori sets")
    monkeypatch.setitem(METHODS._entries, honest.name, replace(honest, set_runner=cheat))
    (tmp_path / "release" / "people.csv").unlink()
    with pytest.raises(Infeasible, match="combination"):
        run(job, folder=tmp_path, rng=1)
    assert not (tmp_path / "release" / "people.csv").exists()


# ---- promises about mechanisms ---------------------------------------------------------------------------------------


def test_a_promise_of_little_linkage_is_measured_not_believed(tmp_path: Path) -> None:
    write_table(tmp_path)
    columns = {**COLUMNS, "likes": {"role": "identifier"}}
    method = {"name": "rank swapping of tuples", "parameters": {"k": 20}}
    kept = project(columns=columns, privacy=[{"model": "linkage risk", "threshold": 0.3}], method=method)
    assert run(kept, folder=tmp_path, rng=1).verification.ok
    weak = {"name": "rank swapping of tuples", "parameters": {"k": 2}}
    hard = project(columns=columns, privacy=[{"model": "linkage risk", "threshold": 0.02}], method=weak)
    with pytest.raises(Infeasible, match="linkage risk"):
        run(hard, folder=tmp_path, rng=1)


def test_differential_privacy_takes_domains_and_bounds_from_the_publisher_not_from_the_table(tmp_path: Path) -> None:
    write_table(tmp_path)
    promise = [{"model": "differential privacy", "epsilon": 2.0}]
    numbers = {**PRIVATE, "age": COLUMNS["age"]}
    with pytest.raises(BadInput, match="bounds"):
        run(project(columns=numbers, privacy=promise, method={"name": "noisy numbers"}), folder=tmp_path)
    words = {**PRIVATE, "illness": {"role": "quasi-identifier"}}
    with pytest.raises(BadInput, match="public knowledge"):
        run(project(columns=words, privacy=promise, method={"name": "randomized response"}), folder=tmp_path)
    declared = {"name": "randomized response", "parameters": {"domains": {"illness": ["flu", "cold", "gout"]}}}
    done = run(project(columns=words, privacy=promise, method=declared), folder=tmp_path, rng=1)
    assert {row["illness"] for row in rows_of(done.file)} <= {"flu", "cold", "gout"}
    beside = {**words, "pay": {"role": "insensitive"}}
    with pytest.raises(BadInput, match="pay would be released otherwise"):
        run(project(columns=beside, privacy=promise, method=declared), folder=tmp_path, rng=1)
    for parameters, problem in (
        ({"epsilons": 1.0}, "takes no parameter"),
        ({"domains": {"pay": [1]}}, "no quasi-identifier"),
        ({"domains": 3}, "name columns"),
    ):
        bad = {"name": "randomized response", "parameters": parameters}
        with pytest.raises(BadInput, match=problem):
            run(project(columns=words, privacy=promise, method=bad), folder=tmp_path)


def test_impossible_combinations_do_not_come_out(tmp_path: Path) -> None:
    write_table(tmp_path)
    columns = {**COLUMNS, "likes": {"role": "identifier"}, "age": {"role": "identifier"}}
    promise = [{"model": "linkage risk", "threshold": 1.0}]
    before = Counter((row["job"], row["size"]) for row in rows_of(tmp_path / "people.csv"))
    assert before[("baker", "large")] > 0
    free = {"name": "rank swapping", "parameters": {"k": 30, "edits": [{"job": ["nurse"], "size": "large"}]}}
    done = run(project(columns=columns, privacy=promise, method=free), folder=tmp_path, rng=1)
    assert not any(row["job"] == "nurse" and row["size"] == "large" for row in rows_of(done.file))
    wrong = {"name": "rank swapping", "parameters": {"k": 30, "edits": [{"pay": [1]}]}}
    with pytest.raises(BadInput, match="edit 1 names the column 'pay'"):
        run(project(columns=columns, privacy=promise, method=wrong), folder=tmp_path, rng=1)


def test_missing_cells_and_unknown_words_can_be_swapped(tmp_path: Path) -> None:
    lines = ["age,job,born"]
    for i in range(60):
        age = "" if i % 10 == 0 else 20 + i % 30
        job = "" if i % 12 == 0 else ("xqzzt" if i % 7 == 0 else JOBS[i % 4])
        lines.append(f"{age},{job},{'' if i % 15 == 0 else f'19{50 + i % 40}-01-02'}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {
        "age": COLUMNS["age"],
        "job": {"role": "quasi-identifier", "taxonomy": "wordnet"},
        "born": {"role": "quasi-identifier", "kind": "date"},
    }
    method = {"name": "strict rank swapping"}
    promise = [{"model": "probabilistic k-anonymity", "k": 5}]
    done = run(project(columns=columns, privacy=promise, method=method), folder=tmp_path, rng=1)
    before = rows_of(tmp_path / "people.csv")
    for name in columns:
        assert Counter(row[name] for row in rows_of(done.file)) == Counter(row[name] for row in before)
    with pytest.raises(BadInput, match=r"missing values|in no taxonomy"):
        run(project(columns=columns, privacy=[LINKAGE], method={"name": "noise"}), folder=tmp_path)


def test_a_mapping_file_says_what_items_mean_to_methods_and_to_reports() -> None:
    from keepsense.release.example import example_job
    from keepsense.release.figures.measure import set_figures
    from keepsense.release.job.sets import recode_sets

    about = {"role": "quasi-identifier", "kind": "set", "delimiter": ";", "taxonomy": "wordnet", "mapping": "likes.csv"}
    job = example_job(columns={"likes": about}, unlisted="drop", method={"name": "set microaggregation"})
    words = job.taxonomy("likes")
    shrub = words.id(words.code("tea#3"))
    lines = ["value,concept,label,how,rows,alternatives,description", f"tea,{shrub},tea#3,given,12,,"]
    (job.folder / "likes.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    sets = job.concept_sets("likes", job.items("likes", ["tea;chess"]))
    assert words.id(int(sets.concepts[sets.thing_of[sets.terms.index("tea")]])) == shrub
    rules, _ = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    assert set_figures(job, rules)[0].loss is not None


def test_meaning_counts_though_some_words_are_unknown_or_missing(tmp_path: Path) -> None:
    """A word that no taxonomy knows, or an empty cell, must not make a method forget what all others mean."""
    from keepsense.engines.protocol import engine
    from keepsense.release.job.job import Job

    jobs = [*["nurse", "surgeon", "dentist", "baker", "clerk", "plumber"] * 10, "xqzzt", ""]
    (tmp_path / "people.csv").write_text("job,x\n" + "".join(f"{job},1\n" for job in jobs), encoding="utf-8")
    columns = {"job": {"role": "quasi-identifier", "taxonomy": "wordnet", "hierarchy": "auto"}, "x": {}}
    for method in ("semantic mondrian", "semantic datafly", "semantic incognito"):
        job = project(columns=columns, method={"name": method}, release={"suppression": 0.2, "folder": method})
        assert run(job, folder=tmp_path, rng=1).verification.ok
    with engine() as running:
        opened = Job(job, tmp_path, running, np.random.default_rng(1))
        tree = opened.hierarchies["job"]
        assert list(opened.distances) == ["job"]
        assert tree.concepts is not None
        unknown = {value for value, code in zip(tree.leaves, tree.concepts[0].tolist(), strict=True) if code < 0}
        assert unknown == {"xqzzt", None}
