"""The verifier: it agrees with the models it shares no code with, and it fails closed."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keepsense.verification
from keepsense.counts import Counts
from keepsense.engines.protocol import sql
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.alpha_k_anonymity import AlphaKAnonymity
from keepsense.privacy.beta_likeness import BasicLikeness, ConceptLikeness, EnhancedLikeness
from keepsense.privacy.delta_disclosure import ConceptDisclosure, DeltaDisclosure
from keepsense.privacy.earth_movers_distance import Links, Ordered, Semantic
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity, XYAnonymity
from keepsense.privacy.k_map import DeltaPresence, KMap, with_population
from keepsense.privacy.km_anonymity import KmAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from keepsense.privacy.population_uniqueness import EstimatedKMap, PopulationUniqueness
from keepsense.privacy.privacy_model import PRIVACY, judge, models
from keepsense.privacy.reference_distributions import Concepts
from keepsense.privacy.risk_thresholds import AverageRisk, MaximumRisk, StrictAverageRisk
from keepsense.privacy.t_closeness import TCloseness
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.verification.released_classes import Classes
from keepsense.verification.verifier import find_check, verify, verify_sets

DISEASES = ("flu", "cold", "ulcer", "colic")
SICK = Hierarchy.of_rows(
    [("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "gut", "*"), ("colic", "gut", "*")], name="disease"
)
NEAR = np.array([[0, 0.2, 1, 1], [0.2, 0, 0.9, 1], [1, 0.9, 0, 0.3], [1, 1, 0.3, 0]], dtype=float)
TREE = from_edges(
    [("flu", "lung"), ("cold", "lung"), ("ulcer", "gut"), ("colic", "gut"), ("lung", "ill"), ("gut", "ill")]
)
LUNG = Concepts({"flu": ("lung", "ill"), "cold": ("lung", "ill"), "ulcer": ("gut", "ill"), "colic": ("gut", "ill")})
MODELS = [
    KAnonymity(3),
    XYAnonymity(2, "person"),
    DistinctDiversity(2, "disease"),
    EntropyDiversity(1.8, "disease"),
    RecursiveDiversity(2.0, 2, "disease"),
    TCloseness(0.4, "disease"),
    TCloseness(0.3, "disease", Ordered(DISEASES)),
    TCloseness(0.3, "disease", "ordered"),
    TCloseness(0.3, "pay", "ordered"),
    TCloseness(0.3, "pay", "numeric"),
    TCloseness(0.3, "disease", SICK),
    TCloseness(0.3, "disease", Links(TREE, {d: d for d in DISEASES})),
    TCloseness(0.3, "disease", Semantic(DISEASES, NEAR)),
    MaximumRisk(0.4),
    AverageRisk(0.4),
    StrictAverageRisk(0.4, 2),
    EstimatedKMap(9, 0.1),
    EstimatedKMap(9, 0.1, 0.1, "zero-truncated poisson"),
    PopulationUniqueness(0.1, 0.3),
    BasicLikeness(0.8, "disease"),
    EnhancedLikeness(1.5, "disease"),
    DeltaDisclosure(1.2, "disease"),
    ConceptLikeness(1.5, "disease", LUNG),
    ConceptDisclosure(1.2, "disease", LUNG),
    AlphaKAnonymity(0.6, 2, "disease"),
    AlphaKAnonymity(0.4, 2, "disease", values=("flu",)),
    KMap(3),
    DeltaPresence(0.1, 0.6),
]
cell = st.sampled_from(["a", "b", None])
records = st.lists(
    st.tuples(cell, cell, st.sampled_from(DISEASES), st.integers(1, 12), st.sampled_from("pqrs")),
    min_size=1,
    max_size=25,
)


def table_of(data) -> dict[str, list]:
    return dict(zip(("x", "y", "disease", "pay", "person"), map(list, zip(*data, strict=True)), strict=True))


@pytest.mark.parametrize("missing", ["category", "wildcard"])
@given(data=records, extra=records)
@settings(max_examples=15, deadline=None)
def test_verifier_and_models_agree(missing, data, extra):
    """Every model at once, each against its own verdict computed from counts."""
    table, people = table_of(data), table_of(data + extra)
    population = {"x": people["x"], "y": people["y"]}
    counts = Counts.of(
        {"x": table["x"], "y": table["y"]},
        histograms={"disease": table["disease"], "pay": table["pay"], "person": table["person"]},
    )
    both = with_population(counts, Counts.of(population))
    chosen = [
        m
        for m in MODELS
        if missing == "category" or not isinstance(m, AverageRisk | PopulationUniqueness | KMap | DeltaPresence)
    ]
    found = verify(table, chosen, quasi_identifiers=["x", "y"], missing=missing, population=population)
    for model, check in zip(chosen, found.checks, strict=True):
        expected = judge([model], both if isinstance(model, KMap | DeltaPresence) else counts, missing=missing)
        assert check.holds == expected.holds, model
        if model.per_class and not isinstance(model, DeltaPresence):
            assert check.failing_classes == (~expected.kept).sum(), model
            assert check.failing_records == expected.suppressed, model
    assert found.ok == all(check.holds for check in found.checks)


def test_k_map_with_wildcards():
    found = verify(
        {"x": ["a", None]}, [KMap(2)], quasi_identifiers=["x"], missing="wildcard", population={"x": ["a", None]}
    )
    assert found.ok
    assert not verify({"x": ["a", None]}, [KMap(2)], quasi_identifiers=["x"], population={"x": ["a", None]}).ok


def modules_of_the_verifier() -> list[Path]:
    return sorted(Path(keepsense.verification.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", modules_of_the_verifier(), ids=lambda path: path.stem)
def test_it_shares_no_code_with_the_models(path):
    """Of the engines it takes a connection, of the models the list that says where its own checks are."""
    own = (
        "keepsense.errors",
        "keepsense.display",
        "keepsense.engines",
        "keepsense.privacy.privacy_model",
        "keepsense.verification.",
    )
    names = {
        "Shown",
        "Summary",
        "Engine",
        "Reading",
        "PlacesCells",
        "SqlConnection",
        "SqlTable",
        "SumsRows",
        "sql",
        "PRIVACY",
    }
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("keepsense"):
            assert f"{node.module}.".startswith(own), f"{path.name} imports {node.module}"
            if node.module in ("keepsense.engines.protocol", "keepsense.privacy.privacy_model"):
                assert {alias.name for alias in node.names} <= names
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith(("keepsense", "duckdb")) for alias in node.names)


class Spy:
    """A connection that remembers what it is asked."""

    def __init__(self, asked):
        self._asked, self._connection = asked, sql()

    def run(self, query):
        self._asked.append(query)
        return self._connection.run(query)

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.close()


class Watched:
    """An engine that only gives such connections."""

    def __init__(self):
        self.asked = []

    def sql(self):
        return Spy(self.asked)


DUCKDB_ONLY = (
    "POSITIONAL", "ASOF", "::", "DESCRIBE", "unnest", "QUALIFY", "GROUP BY ALL", "VARCHAR", "ANTI JOIN", "USING SAMPLE",
    "list_", "struct_", "any_value", "FILTER (count", "EXCLUDE", "COLUMNS(", "PIVOT", "read_", "?",
)  # fmt: skip


@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_its_sql_is_what_duckdb_and_spark_share(missing):
    data = [("a", None, "flu", 3, "p"), ("a", "b", "cold", 5, "q"), (None, "b", "ulcer", 5, "q")]
    table, engine = table_of(data), Watched()
    people = {"x": table["x"], "y": table["y"]}
    verify(
        table,
        MODELS,
        quasi_identifiers=["x", "y"],
        missing=missing,
        population=people,
        original=table,
        preserved=["disease"],
        show_values=True,
        engine=engine,
    )
    verify_sets([["a", "b"], ["a"]], [KmAnonymity(2, 2, "s"), KAnonymity(2)], engine=engine)
    assert len(engine.asked) > 30
    for query in engine.asked:
        assert not [word for word in DUCKDB_ONLY if word in query], query
        assert query.count("FILTER (") == query.count("FILTER (WHERE"), query
        assert "OVER ()" not in query, "Spark numbers rows only in an order"


@pytest.mark.parametrize("name", models())
def test_every_promise_about_a_file_has_a_check(name):
    entry = PRIVACY[name]
    assert entry.model.about == "mechanism" or find_check(entry.name) or find_check(entry.name, of_sets=True)
    for check in (find_check(entry.name), find_check(entry.name, of_sets=True)):
        assert check is None or check.__module__.startswith("keepsense.verification.")


RELEASE = {"job": ["medic", "medic", "*", "clerk", "clerk"], "disease": ["flu", "cold", "flu", "flu", "cold"]}


@pytest.mark.parametrize("form", ["csv", "semicolon", "parquet", "arrow", "duckdb", "polars", "dict"])
def test_every_form_of_table_is_read(form, tmp_path):
    table = pa.table(RELEASE)
    path = tmp_path / "it's released"
    if form == "csv":
        path = path.with_suffix(".csv")
        pa.csv.write_csv(table, path)
    elif form == "semicolon":
        path = path.with_suffix(".csv")
        path.write_text("\n".join(["job;disease", *map(";".join, zip(*RELEASE.values(), strict=True))]) + "\n")
    elif form == "parquet":
        path = path.with_suffix(".parquet")
        pa.parquet.write_table(table, path)
    released = {
        "csv": path,
        "semicolon": str(path),
        "parquet": path,
        "arrow": table,
        "duckdb": duckdb.from_arrow(table),
        "polars": pl.DataFrame(RELEASE),
        "dict": RELEASE,
    }[form]
    found = verify(
        released,
        [KAnonymity(1), DistinctDiversity(1, "disease")],
        quasi_identifiers=["job"],
        suppression=0.2,
        delimiter=";" if form == "semicolon" else None,
    )
    assert found.ok, str(found)
    assert (found.records, found.classes, found.suppressed) == (5, 2, 1)
    assert not found.findings


def test_suppressed_records_count_against_the_limit():
    strict = verify(RELEASE, [KAnonymity(1)], quasi_identifiers=["job"], suppression=0.19)
    assert not strict.ok
    assert [f.code for f in strict.findings if f.is_error] == ["E205"]
    # Rows that were dropped count too.
    original = {"job": [*RELEASE["job"], "nurse"]}
    dropped = verify(RELEASE, [KAnonymity(1)], quasi_identifiers=["job"], suppression=0.2, original=original)
    assert [f.code for f in dropped.findings if f.is_error] == ["E205"]
    assert verify(RELEASE, [KAnonymity(1)], quasi_identifiers=["job"], suppression=0.34, original=original).ok


@pytest.mark.parametrize("promise", [KAnonymity(2), DistinctDiversity(2, "disease"), TCloseness(0.3, "disease")])
def test_suppressed_records_are_a_class_that_keeps_every_promise(promise: keepsense.privacy.privacy_model.Model):
    """Two classes of four keep all three; the lone record that is hidden everywhere keeps none."""
    shown = {"job": ["medic"] * 4 + ["clerk"] * 4, "disease": ["flu", "cold"] * 4}
    assert verify(shown, [promise], quasi_identifiers=["job"]).ok
    hidden = {"job": [*shown["job"], "*"], "disease": [*shown["disease"], "flu"]}
    found = verify(hidden, [promise], quasi_identifiers=["job"])
    assert [f.code for f in found.findings] == ["E203"]
    assert (found.classes, found.suppressed, found.checks[0].failing_records) == (2, 1, 1)


def test_a_table_generalized_to_the_top_is_one_class():
    table = {"job": ["*"] * 4, "disease": ["flu"] * 4}
    found = verify(table, [KAnonymity(4)], quasi_identifiers=["job"], suppression=0.0)
    assert (found.ok, found.classes, found.suppressed) == (True, 1, 0)
    assert not verify(table, [KAnonymity(5)], quasi_identifiers=["job"]).ok
    assert not verify(table, [DistinctDiversity(2, "disease")], quasi_identifiers=["job"]).ok


def test_suppressed_records_fit_nobody_with_wildcards():
    """A record missing everywhere fits the others, but not those that are suppressed."""
    table = {"x": ["a", None, "*", "*"], "y": ["b", None, "*", "*"]}
    assert verify(table, [KAnonymity(2)], quasi_identifiers=["x", "y"], missing="wildcard").ok
    assert not verify(table, [KAnonymity(3)], quasi_identifiers=["x", "y"], missing="wildcard").ok


def test_closeness_holds_for_a_class_exactly_t_away():
    table = {"x": ["a", "a", "b", "b"], "disease": ["flu", "flu", "flu", "cold"]}
    for t, holds in ((0.25, True), (0.2499, False)):
        promise = {"model": "t-closeness", "t": t, "column": "disease", "ground": "equal"}
        assert verify(table, [promise], quasi_identifiers=["x"]).ok is holds


def test_closeness_reference_is_the_original_table():
    """The release dropped the only cold: against the original the class is 1/3 away, against itself 0."""
    released = {"x": ["a", "a"], "disease": ["flu", "flu"]}
    original = {"x": ["a", "a", "b"], "disease": ["flu", "flu", "cold"]}
    promise = TCloseness(0.2, "disease")
    assert verify(released, [promise], quasi_identifiers=["x"]).ok
    found = verify(released, [promise], quasi_identifiers=["x"], original=original)
    assert not found.ok
    assert found.checks[0].worst == pytest.approx(1 / 3)
    kept = {"x": ["a", "a", "*"], "disease": ["flu", "flu", "cold"]}
    assert verify(kept, [promise], quasi_identifiers=["x"]).checks[0].worst == pytest.approx(2 / 3)  # the hidden cold


def test_conditions_on_columns_and_rows():
    original = {"id": ["1", "2"], "x": ["a", "b"], "disease": ["flu", "cold"], "pay": [1.5, 2.0]}
    good = {"x": ["*", "*"], "disease": ["cold", "flu"], "pay": [2.0, 1.5]}
    options = {"quasi_identifiers": ["x"], "original": original, "identifiers": ["id"]}
    assert verify(good, [KAnonymity(2)], preserved=["disease", "pay"], **options).ok

    def codes(released, **more):
        found = verify(released, [KAnonymity(1)], **{**options, **more})
        assert not found.ok
        return [f.code for f in found.findings if f.is_error]

    assert codes(good | {"id": ["1", "2"]}) == ["E202"]
    assert codes(good | {"pay": [1.5, 2.0]}, preserved=["disease", "pay"]) == ["E207"]
    assert codes(good, preserved=["disease", "age"]) == ["E201"]
    assert codes(good | {"age": [1, 1]}, preserved=["age"]) == ["E207"]
    assert codes({"x": ["a"] * 3}) == ["E206"]
    assert codes({"disease": ["flu"]}) == ["E201"]
    assert codes({"x": []}) == ["E208"]
    assert codes(good, sensitive=["hiv"]) == ["E201"]


def test_persons_stand_beside_the_release():
    released = {"x": ["a", "a", "b", "b"]}
    promise = XYAnonymity(2, "person")
    blind = verify(released, [promise], quasi_identifiers=["x"])
    assert [f.code for f in blind.findings] == ["E204"]
    assert verify(released, [promise], quasi_identifiers=["x"], hidden={"person": list("pqpq")}).ok
    found = verify(released, [promise], quasi_identifiers=["x"], hidden={"person": list("ppqr")})
    assert (found.ok, found.checks[0].failing_classes) == (False, 1)
    with pytest.raises(BadInput, match="another number of rows"):
        verify(released, [promise], quasi_identifiers=["x"], hidden={"person": ["p"]})


def test_promises_about_a_mechanism():
    table = {"x": ["a", "b"]}
    promise = ProbabilisticKAnonymity(2)
    assert not verify(table, [promise], quasi_identifiers=["x"]).ok
    assert verify(table, [promise], quasi_identifiers=["x"], checked_elsewhere=[promise.name]).ok
    assert verify({"x": ["a", "a"]}, [promise], quasi_identifiers=["x"]).ok
    assert not verify(table, [KAnonymity(2)], quasi_identifiers=["x"], checked_elsewhere=["k-anonymity"]).ok
    unknown = {"model": "epsilon-differential privacy", "epsilon": 1}
    assert not verify(table, [unknown], quasi_identifiers=["x"]).ok
    assert verify(table, [unknown], quasi_identifiers=["x"], checked_elsewhere=["epsilon-differential privacy"]).ok


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        ({"model": "k-anonymity"}, "lacks its parameter 'k'"),
        ({"model": "k-anonymity", "k": "many"}, "no number"),
        ({"model": "t-closeness", "t": None, "column": "disease"}, "no number"),
        ({"model": "l-diversity", "l": 2, "column": "no"}, "not in the release"),
        ({"model": "l-diversity", "form": "odd", "l": 2, "column": "disease"}, "no form"),
        ({"model": "t-closeness", "t": 0.1, "column": "disease", "ground": "hierarchical"}, "evidence"),
        ({"model": "t-closeness", "t": 0.1, "column": "disease", "ground": "semantic"}, "evidence"),
        ({"model": "t-closeness", "t": 0.1, "column": "disease", "ground": "links"}, "evidence"),
        ({"model": "t-closeness", "t": 0.1, "column": "disease", "ground": "numeric"}, "numbers only"),
        ({"model": "t-closeness", "t": 0.1, "column": "disease", "ground": "odd"}, "no ground distance"),
        ({"model": "k-map", "k": 2}, "population"),
        ({"model": "delta-presence", "lower": 0, "upper": 1}, "population"),
        ({}, "does not know"),
    ],
)
def test_what_cannot_be_checked_does_not_hold(promise, message):
    found = verify({"x": ["a", "b"], "disease": ["flu", "cold"]}, [promise], quasi_identifiers=["x"])
    assert not found.ok
    (finding,) = [f for f in found.findings if f.is_error]
    assert finding.code == "E204"
    assert message in finding.message


def test_evidence_may_come_as_plain_data():
    table = {"x": ["a", "b"], "disease": ["flu", "cold"]}
    model = TCloseness(0.3, "disease", SICK)
    found = verify(table, [model.promise()], quasi_identifiers=["x"], evidence=model.evidence())
    assert found.ok
    assert found.checks[0].worst == pytest.approx(0.25)


def test_values_are_shown_only_when_asked_for():
    table = {"x": ["secret-a", "secret-b", "b", "b"]}
    quiet = verify(table, [KAnonymity(2)], quasi_identifiers=["x"])
    assert "secret" not in str(quiet) + repr(quiet)
    loud = verify(table, [KAnonymity(2)], quasi_identifiers=["x"], show_values=True)
    assert sorted(loud.examples) == [("secret-a",), ("secret-b",)]
    assert (
        str(quiet).splitlines()[1]
        == "E203 k-anonymity: 2 classes with 2 records break the promise (worst 1, promised 2)"
    )


def test_bad_calls(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        verify(tmp_path / "none.csv", [KAnonymity(2)], quasi_identifiers=["x"])
    (tmp_path / "broken.parquet").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="cannot be read"):
        verify(tmp_path / "broken.parquet", [KAnonymity(2)], quasi_identifiers=["x"])
    with pytest.raises(BadInput, match="at least one promise"):
        verify({"x": ["a"]}, [], quasi_identifiers=["x"])
    with pytest.raises(BadInput, match="quasi-identifiers"):
        verify({"x": ["a"]}, [KAnonymity(2)], quasi_identifiers=[])
    with pytest.raises(BadInput, match="'category' or a 'wildcard'"):
        verify({"x": ["a"]}, [KAnonymity(2)], quasi_identifiers=["x"], missing="no")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="promise"):
        verify({"x": ["a"]}, [3], quasi_identifiers=["x"])


def test_strange_column_names():
    found = verify(
        {'a "b"; drop': ["x", "x"], "class_": ["y", "y"], "Class_": ["1", "2"]},
        [KAnonymity(2)],
        quasi_identifiers=['a "b"; drop', "class_"],
    )
    assert found.ok


def test_records_missing_everywhere_are_pointed_out():
    found = verify({"x": ["a", None]}, [KAnonymity(2)], quasi_identifiers=["x"], missing="wildcard")
    assert found.ok
    assert [f.code for f in found.findings] == ["W212"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["flu", "cold", "gout", None])), min_size=1))
@settings(deadline=None, max_examples=30)
def test_empty_sensitive_cells_that_are_unknown_count_as_the_commonest(rows):
    table = {"job": [job for job, _ in rows], "disease": [disease for _, disease in rows]}
    worst = min(
        max(1, len({disease for job, disease in rows if job == group and disease is not None}))
        for group in {job for job, _ in rows}
    )
    counts = Counts.of({"job": table["job"]}, histograms={"disease": table["disease"]})
    models = [
        model
        for l in (1, 2, 3)  # noqa: E741
        for model in (
            DistinctDiversity(l, "disease", "unknown"),
            EntropyDiversity(l, "disease", "unknown"),
            RecursiveDiversity(2.0, l, "disease", "unknown"),
        )
    ]
    for model, check in zip(models, verify(table, models, quasi_identifiers=["job"]).checks, strict=True):
        assert check.holds == bool(model.satisfied(counts.weights, counts.histograms).all())
        if isinstance(model, DistinctDiversity):
            assert check.holds == (worst >= model.l)


def test_a_column_that_is_shuffled_against_the_others_is_noticed(tmp_path):
    """Every column by itself is as it was, and so are the classes: only whole rows tell."""
    people = {"job": ["nurse"] * 6, "ill": list("aabbcc"), "drug": list("xxyyzz"), "pay": [1, 2, 3, 4, 5, 6]}
    original = pa.table(people)
    options = {"quasi_identifiers": ["job"], "original": original, "preserved": ["ill", "drug", "pay"]}
    order = [5, 3, 1, 0, 2, 4]
    shuffled = original.take(order)
    apart = shuffled.set_column(2, "drug", original["drug"])
    for release, codes in ((shuffled, []), (apart, ["E207"])):
        file = tmp_path / "release.parquet"
        pa.parquet.write_table(release, file)
        for form in (release, file):
            found = verify(form, [KAnonymity(6)], **options)
            assert [finding.code for finding in found.findings] == codes
    moved = sum(a != b for a, b in zip(people["drug"], [people["drug"][i] for i in order], strict=True))
    assert f"{moved} rows hold values" in str(verify(apart, [KAnonymity(6)], **options))


CELL = st.sampled_from(["a", "b", "", None])


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8),
    st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8),
    st.booleans(),
)
def test_changed_rows_are_those_that_plain_python_counts(now, before, same):
    before = list(reversed(now)) if same else before
    tables = {"released": now, "original": before}
    with sql() as connection:
        known = {
            name: connection.table(name, pa.table({c: pa.array([row[i] for row in rows]) for i, c in enumerate("xy")}))
            for name, rows in tables.items()
        }
        classes = Classes(connection, known, ["x"])
        assert classes.changed_rows(["x", "y"]) == (Counter(now) - Counter(before)).total()


def test_a_file_that_changes_under_the_verifier_is_refused(tmp_path):
    file = tmp_path / "release.parquet"
    pa.parquet.write_table(pa.table({"job": ["nurse", "nurse"]}), file)
    with sql() as connection:
        connection.table("released", file)
        pa.parquet.write_table(pa.table({"job": ["clerk", "nurse", "nurse"]}), file)
        with pytest.raises(BadInput, match="changed while it was read"):
            connection.run("SELECT count(*) FROM released")
