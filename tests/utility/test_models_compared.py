"""Models of both tables: propensity scores, regressions, several classifiers, and intervals of sampled figures."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from keepsense.counts import Counts
from keepsense.errors import BadInput, MissingExtra
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import Estimate, Figure, by_name, figures, sampled_mean, sampled_share
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.utility.classifiers import classification_accuracy, compare_classifiers
from keepsense.utility.query_error import QueryError
from keepsense.utility.recoded_table import Recoded
from keepsense.utility.regressions import (
    MOST_TERMS,
    Coefficient,
    Propensity,
    compare_coefficients,
    compare_regressions,
    logistic_scores,
    number_terms,
    products,
    propensity_score,
    recoded_terms,
    word_terms,
)
from keepsense.utility.value_distances import Scale

JOBS = Hierarchy.of_rows(
    [("nurse", "medic", "*"), ("clerk", "office", "*"), ("surgeon", "medic", "*"), ("judge", "office", "*")], name="job"
)


def people(n: int, seed: int) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    jobs = rng.choice(JOBS.leaves, n, p=[0.4, 0.3, 0.2, 0.1])
    ages = rng.integers(20, 60, n)
    pay = ages // 5 + 3 * (jobs == "surgeon") + rng.integers(0, 3, n)
    return {"job": [str(job) for job in jobs], "age": [int(age) for age in ages], "pay": [int(each) for each in pay]}


def unchanged(counts: Counts) -> Cells:
    return Cells(counts.names, counts.values, np.arange(len(counts)), counts.codes, counts.weights)


# ---- propensity scores -----------------------------------------------------------------------------------------------


def test_scores_of_one_column_are_its_shares():
    """Of 30 a 20 are released, of 50 b 20: pMSE = (30 (1/6)² + 50 (1/10)²) / 80; one term beside the intercept."""
    old, new = Counts.of({"x": ["a"] * 10 + ["b"] * 30}), Counts.of({"x": ["a"] * 20 + ["b"] * 20})
    scores = propensity_score(old, new, {"x": word_terms("x", ("a", "b"), np.array([10, 30]), ("a", "b"))})
    assert scores.pmse == pytest.approx((30 / 36 + 50 / 100) / 80)
    assert scores.expected == pytest.approx(0.5**2 * 0.5 / 80)
    assert scores.deviation == pytest.approx(2**0.5 * 0.5**2 * 0.5 / 80)
    assert scores.ratio == pytest.approx(scores.pmse / scores.expected)
    assert scores.standardized == pytest.approx((scores.pmse - scores.expected) / scores.deviation)


def test_scores_are_those_of_a_logistic_regression_row_by_row():
    old, new = people(150, 1), people(100, 2)
    before, after = (Counts.of({name: table[name] for name in ("job", "age")}) for table in (old, new))
    terms = {
        "job": word_terms("job", before.values_of("job"), before.marginal("job"), after.values_of("job")),
        "age": number_terms("age", before.values_of("age"), before.marginal("age"), after.values_of("age")),
    }
    rows = []
    for job, age in zip(old["job"] + new["job"], old["age"] + new["age"], strict=True):
        words = [float(job == each) for each in ("clerk", "surgeon", "judge")]
        years = (age - np.mean(old["age"])) / np.std(old["age"])
        rows.append([*words, years, years**2, *(word * years for word in words)])
    label = np.array([0] * 150 + [1] * 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how its search ends differs between machines
        model = LogisticRegression(C=1e12, max_iter=10_000, tol=1e-10).fit(rows, label)
    guess = model.predict_proba(rows)[:, 1]
    scores = propensity_score(before, after, terms)
    assert scores.pmse == pytest.approx(np.mean((guess - 0.4) ** 2), rel=1e-3)
    assert scores.parameters == 9


def test_the_expected_error_is_that_of_tables_drawn_anew():
    """Snoke et al. 2018: the mean over many tables drawn with replacement from one, and their deviation."""
    rng = np.random.default_rng(5)
    jobs = np.repeat(["a", "b", "c"], [100, 60, 40])
    before = Counts.of({"x": jobs.tolist()})
    terms = {"x": word_terms("x", ("a", "b", "c"), np.array([100, 60, 40]), ("a", "b", "c"))}
    drawn = []
    for _ in range(400):
        times = rng.multinomial(200, [0.5, 0.3, 0.2])
        after = Counts(("x",), (("a", "b", "c"),), np.arange(3, dtype=np.int32)[:, None], times)
        drawn.append(propensity_score(before, after, terms))
    assert np.mean([each.ratio for each in drawn]) == pytest.approx(1, abs=0.15)
    assert np.std([each.pmse for each in drawn]) == pytest.approx(drawn[0].deviation, rel=0.2)


def test_a_table_as_it_was_cannot_be_told_apart_and_another_can():
    table = Counts.of({"job": ["nurse", "nurse", "clerk"], "age": [20, 30, 40]})
    same = by_name(figures("utility", Recoded(table, [unchanged(table)], {"job": JOBS}, numbers=frozenset({"age"}))))
    assert same["propensity"] == pytest.approx(0, abs=1e-12)
    assert same["propensity, ratio"] == pytest.approx(0, abs=1e-9)
    old, new = Counts.of({"x": ["a"] * 20}), Counts.of({"x": ["b"] * 20})
    apart = propensity_score(old, new, {"x": word_terms("x", ("a",), np.array([20]), ("b",))})
    assert apart.pmse == pytest.approx(apart.worst, abs=1e-6)
    with pytest.raises(BadInput, match="no records"):
        propensity_score(old, Counts.of({"x": []}), {})
    assert Propensity(0.1, 1, 10, 10).ratio == 0


def test_swapped_columns_are_told_apart_though_each_is_as_it_was():
    table = Counts.of({"job": ["nurse"] * 20 + ["clerk"] * 20, "age": [20] * 20 + [50] * 20})
    mixed = Counts.of({"job": (["nurse"] * 10 + ["clerk"] * 10) * 2, "age": [20] * 20 + [50] * 20})
    terms = {
        "job": word_terms("job", table.values_of("job"), table.marginal("job"), mixed.values_of("job")),
        "age": number_terms("age", table.values_of("age"), table.marginal("age"), mixed.values_of("age")),
    }
    assert propensity_score(table, mixed, {"job": terms["job"]}).pmse == pytest.approx(0, abs=1e-12)
    assert propensity_score(table, mixed, terms).pmse > 0.05


def test_suppressed_records_stand_for_all_values():
    table = Counts.of({"job": ["nurse"] * 50 + ["clerk"] * 50, "age": [20] * 50 + [40] * 50})
    hidden = Counts.of({"job": ["*"] * 100, "age": ["*"] * 100})
    terms = {
        "job": word_terms("job", table.values_of("job"), table.marginal("job"), hidden.values_of("job")),
        "age": number_terms("age", table.values_of("age"), table.marginal("age"), hidden.values_of("age")),
    }
    assert terms["job"].after.tolist() == [[0.5]]
    assert terms["age"].after.tolist() == [[0.0]]
    assert 0 < propensity_score(table, hidden, terms).pmse <= 0.25


def test_products_are_left_out_where_they_are_too_many():
    wide = np.zeros((3, 20))
    assert products([wide[:, :2], wide[:, :3]], [False, False]).shape == (3, 6)
    assert products([wide, wide], [False, False]) is None
    assert MOST_TERMS < 20 + 20 + 20 * 20


def test_few_records_have_no_products():
    """Twenty records of either table bear two terms, not the square and the product as well."""
    rng = np.random.default_rng(3)
    for records, parameters in ((20, 3), (60, 5)):
        jobs, ages = rng.choice(["a", "b"], records).tolist(), rng.integers(20, 60, records).tolist()
        table = Counts.of({"job": jobs, "age": ages})
        terms = {
            "job": word_terms("job", table.values_of("job"), table.marginal("job"), table.values_of("job")),
            "age": number_terms("age", table.values_of("age"), table.marginal("age"), table.values_of("age")),
        }
        assert propensity_score(table, table, terms).parameters == parameters


def test_scores_without_terms_are_the_share():
    label, weights = np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 1.0])
    assert logistic_scores(np.ones((3, 1)), label, weights) == pytest.approx(np.full(3, 0.75))


# ---- regressions -----------------------------------------------------------------------------------------------------


def regressed(table: dict[str, list]) -> Counts:
    return Counts.of({"job": table["job"], "age": table["age"]}, histograms={"pay": table["pay"]})


def test_coefficients_and_intervals_are_those_of_least_squares_row_by_row():
    table = people(120, 3)
    counts = regressed(table)
    cells = unchanged(counts)
    found = compare_coefficients(counts, cells, "pay", recoded_terms(counts, cells, {"job": JOBS}, frozenset({"age"})))
    years = (np.array(table["age"]) - np.mean(table["age"])) / np.std(table["age"])
    order = [each.term.removeprefix("job = ") for each in found if each.term != "age"]
    rows = np.column_stack([np.ones(120), *[[float(job == each) for job in table["job"]] for each in order], years])
    pay = np.array(table["pay"], dtype=float)
    fitted = LinearRegression(fit_intercept=False).fit(rows, pay)
    left = pay - fitted.predict(rows)
    freedom = 120 - rows.shape[1]
    error = np.sqrt(left @ left / freedom * np.diag(np.linalg.inv(rows.T @ rows)))
    reach = stats.t.ppf(0.975, freedom) * error
    for each, at, around in zip(found, fitted.coef_[1:], reach[1:], strict=True):
        assert each.before == pytest.approx(at)
        assert each.before_interval == pytest.approx((at - around, at + around))
        assert each.overlap == pytest.approx(1)
    assert [each.term for each in found][-1] == "age"


def test_what_a_release_cannot_tell_apart_does_not_overlap():
    counts = regressed(people(200, 4))
    rule = Cuts((JOBS.cut(1), Cut("age", counts.values_of("age"), counts.values_of("age"))))
    terms = recoded_terms(counts, rule.cells(counts), {"job": JOBS}, frozenset({"age"}))
    found = {each.term: each for each in compare_coefficients(counts, rule, "pay", terms)}
    # judges and clerks are released as office, so that neither can be told from the other; nurses are the reference
    assert found["job = judge"].after is found["job = judge"].after_interval is None
    assert found["job = judge"].overlap == 0
    assert found["age"].overlap > 0.5


def test_overlap_of_intervals():
    """Karr et al. 2006: the mean of the common part over either interval."""
    assert Coefficient("x", 0, (0, 4), 0, (2, 4)).overlap == (2 / 4 + 2 / 2) / 2
    assert Coefficient("x", 0, (0, 1), 0, (2, 3)).overlap == 0
    assert Coefficient("x", 1, (1, 1), 1, (1, 1)).overlap == 1


def test_explained_variance_is_that_of_predictions_row_by_row():
    table = people(90, 6)
    counts = regressed(table)
    found = compare_regressions(counts, unchanged(counts), "pay", folds=3, rng=2)
    assert list(found) == ["ridge regression", "decision tree", "random forest"]
    for each in found.values():
        assert each.before == pytest.approx(each.after)
        assert 0.2 < each.before < 1
    own = compare_regressions(counts, unchanged(counts), "pay", models={"own": LinearRegression()}, rng=2)
    assert list(own) == ["own"]
    words = Counts.of({"job": ["nurse", "clerk"] * 3}, histograms={"pay": ["low", "high"] * 3})
    with pytest.raises(BadInput, match="no numbers; compare classifiers"):
        compare_regressions(words, unchanged(words), "pay", folds=2)


def test_reports_compare_regressions_where_the_target_is_a_number():
    counts = regressed(people(150, 7))
    rule = Cuts((JOBS.cut(1), Cut("age", counts.values_of("age"), tuple(
        f"{age // 10 * 10} to {age // 10 * 10 + 9}" for age in counts.values_of("age")
    ))))  # fmt: skip
    subject = Recoded(counts, [rule], {"job": JOBS}, numbers=frozenset({"age"}), target="pay",
                      scale_of=lambda name: Scale(name, "nominal" if name == "job" else "numeric"))  # fmt: skip
    shown = by_name(figures("utility", subject))
    assert 0 < shown["regression overlap, pay"] < 1
    assert shown["explained variance, after, ridge regression"] < shown["explained variance, before, ridge regression"]
    assert {"accuracy by model, after, random forest", "accuracy by model, before, naive Bayes"} <= set(shown)
    words = by_name(figures("utility", Recoded(counts, [rule], {"job": JOBS}, target="pay")))
    assert "regression overlap, pay" not in words


# ---- classifiers -----------------------------------------------------------------------------------------------------


def test_every_classifier_has_the_same_folds():
    table = people(200, 8)
    counts = Counts.of({"job": table["job"], "age": [age // 10 for age in table["age"]]}, histograms={
        "rich": ["yes" if pay > 9 else "no" for pay in table["pay"]]
    })  # fmt: skip
    rule = unchanged(counts)
    every = compare_classifiers(counts, rule, "rich", rng=3)
    assert every["logistic regression"] == classification_accuracy(counts, rule, "rich", rng=3)
    tree = DecisionTreeClassifier(random_state=0)
    assert every["decision tree"] == classification_accuracy(counts, rule, "rich", model=tree, rng=3)
    for each in every.values():
        assert each.before == each.after > each.commonest
        assert each.records == 200
        (low, high), share = each.estimates[1].interval, each.after
        assert low < share < high


def test_values_that_were_changed_are_learned_from_too():
    """Jobs that are mixed tell a classifier nothing; the recoding has counts of its own, in another order."""
    jobs = ["nurse"] * 30 + ["clerk"] * 20
    table = Counts.of({"job": jobs}, histograms={"ill": ["yes" if job == "nurse" else "no" for job in jobs]})
    own = Counts.of({"job": jobs[::-1]})
    same = Cells(("job",), own.values, np.arange(2), own.codes, own.weights, inputs=own)
    codes, times = np.array([[0], [1], [0], [1]]), np.array([10, 10, 15, 15])
    mixed = Cells(("job",), own.values, np.array([0, 0, 1, 1]), codes, times, inputs=own)
    after = [by_name(figures("utility", Recoded(table, [rule], truthful=False, target="ill")))["accuracy, after, ill"]
             for rule in (same, mixed)]  # fmt: skip
    assert after == [1.0, pytest.approx(0.6, abs=0.05)]


def test_targets_of_many_classes_have_one_model():
    rows = 120
    table = Counts.of({"job": ["nurse", "clerk"] * 60}, histograms={"pay": [i // 2 for i in range(rows)]})
    shown = by_name(figures("utility", Recoded(table, [unchanged(table)], {"job": JOBS}, target="pay")))
    assert "accuracy, after, pay" in shown
    assert not [name for name in shown if name.startswith("accuracy by model")]


def test_models_need_scikit_learn(monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    counts = regressed(people(20, 9))
    monkeypatch.setattr(builtins, "__import__", without)
    for compare in (compare_classifiers, compare_regressions):
        with pytest.raises(MissingExtra, match=r"keepsense\[learn\]"):
            compare(counts, unchanged(counts), "pay")


# ---- intervals -------------------------------------------------------------------------------------------------------


def test_intervals_of_shares_are_those_of_wilson():
    """Wilson 1927; 10 of 50 as in Brown, Cai and DasGupta 2001."""
    assert sampled_share(0.2, 50).interval == pytest.approx((0.1124, 0.3304), abs=1e-4)
    assert sampled_share(0.0, 100).interval == pytest.approx((0.0, 0.0370), abs=1e-4)
    assert sampled_share(1.0, 100).interval[1] == 1.0
    held = [low <= 0.3 <= high for low, high in (
        sampled_share(hits / 80, 80).interval for hits in np.random.default_rng(1).binomial(80, 0.3, 2000)
    )]  # fmt: skip
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)


def test_intervals_of_means_are_those_of_student():
    values = [1.0, 2.0, 4.0, 8.0]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert sampled_mean(values).interval == pytest.approx(expected)


def test_questions_have_intervals():
    errors = QueryError(np.linspace(0, 1, 101))
    mean, median = errors.estimates
    assert mean.interval[0] < mean < mean.interval[1]
    assert median.interval == pytest.approx((0.40, 0.61), abs=0.011)
    assert QueryError(np.array([0.0, 0.0])).estimates[0].interval == (0.0, 0.0)


def test_figures_carry_their_intervals():
    table = Counts.of({"job": ["nurse", "clerk"] * 20}, histograms={"ill": ["yes", "no"] * 20})
    rule = Cuts((Cut("job", ("nurse", "clerk"), ("*", "*")),))
    shown = {each.name: each for each in figures("utility", Recoded(table, [rule], {"job": JOBS}, target="ill"))}
    low, high = shown["accuracy, after, ill"].interval
    assert low < shown["accuracy, after, ill"].value < high
    assert " to " in shown["accuracy, after, ill"].text
    assert shown["query error, mean"].interval is not None
    assert shown["loss"].interval is None
    assert isinstance(Estimate(0.5, 0.4, 0.6), float)
    assert Figure(shown["loss"].metric, 0.5).text == "50%"
