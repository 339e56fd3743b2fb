"""Privacy models: their definitions row by row, monotonicity under merging, and what they refuse."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadHierarchy, BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.requirement import suppression_limit
from keepsense.privacy.alpha_k_anonymity import AlphaKAnonymity
from keepsense.privacy.beta_likeness import BasicLikeness, ConceptLikeness, EnhancedLikeness
from keepsense.privacy.delta_disclosure import ConceptDisclosure, DeltaDisclosure
from keepsense.privacy.earth_movers_distance import Links, Ordered, Semantic, Tree
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity, XYAnonymity
from keepsense.privacy.k_map import DeltaPresence, KMap, with_population
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from keepsense.privacy.population_uniqueness import EstimatedKMap, PopulationUniqueness
from keepsense.privacy.privacy_model import bind, decide, judge, model, models, monotonic, needed_columns, validate
from keepsense.privacy.reference_distributions import Concepts
from keepsense.privacy.risk_thresholds import AverageRisk, MaximumRisk, StrictAverageRisk
from keepsense.privacy.t_closeness import TCloseness
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges

SICK = Hierarchy.of_rows(
    [("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "gut", "*"), ("colic", "gut", "*")], name="disease"
)
DISEASES = ("flu", "cold", "ulcer", "colic")
NEAR = np.array([[0, 0.2, 1, 1], [0.2, 0, 0.9, 1], [1, 0.9, 0, 0.3], [1, 1, 0.3, 0]], dtype=float)

LUNG = Concepts({"flu": ("lung", "ill"), "cold": ("lung", "ill"), "ulcer": ("gut", "ill"), "colic": ("gut", "ill")})
MODELS = [
    KAnonymity(3),
    ProbabilisticKAnonymity(2),
    XYAnonymity(2, "person"),
    DistinctDiversity(2, "disease"),
    EntropyDiversity(1.8, "disease"),
    RecursiveDiversity(2.0, 2, "disease"),
    TCloseness(0.4, "disease"),
    TCloseness(0.3, "disease", Ordered(DISEASES)),
    TCloseness(0.3, "disease", SICK),
    TCloseness(0.3, "disease", Semantic(DISEASES, NEAR)),
    BasicLikeness(0.8, "disease"),
    EnhancedLikeness(1.5, "disease"),
    DeltaDisclosure(1.2, "disease"),
    ConceptLikeness(1.5, "disease", LUNG),
    ConceptDisclosure(1.2, "disease", LUNG),
    AlphaKAnonymity(0.6, 2, "disease"),
    AlphaKAnonymity(0.4, 2, "disease", values=("flu",)),
    KMap(3),
    DeltaPresence(0.1, 0.6),
    MaximumRisk(0.4),
    AverageRisk(0.4),
    StrictAverageRisk(0.4, 2),
    EstimatedKMap(9, 0.1),
    EstimatedKMap(9, 0.1, 0.1, "zero-truncated poisson"),
    PopulationUniqueness(0.1, 0.3),
]
rows = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(DISEASES), st.sampled_from("abcdef")), min_size=1, max_size=25
)


def counted(data) -> Counts:
    counts = Counts.of(
        {"x": [r[0] for r in data]}, histograms={"disease": [r[1] for r in data], "person": [r[2] for r in data]}
    )
    people = Counts.of({"x": [r[0] for r in data for _ in range(1 + r[0])] + [9]})
    return with_population(counts, people)


def by_definition(model, data):
    """Verdict on each class from its rows, written out as plainly as possible."""
    whole = Counter(r[1] for r in data)
    verdicts = {}
    for x in dict.fromkeys([r[0] for r in data]):
        members = [r for r in data if r[0] == x]
        counts = sorted(Counter(r[1] for r in members).values(), reverse=True)
        size = len(members)
        match model:
            case KAnonymity(k) | ProbabilisticKAnonymity(k):
                good = size >= k
            case XYAnonymity(k, _):
                good = len({r[2] for r in members}) >= k
            case DistinctDiversity(l, _):
                good = len(counts) >= l
            case EntropyDiversity(l, _):
                good = -sum(n / size * math.log(n / size) for n in counts) >= math.log(l) - 1e-9
            case RecursiveDiversity(c, l, _):
                good = counts[0] < c * sum(counts[l - 1 :])
            case StrictAverageRisk() | EstimatedKMap() | PopulationUniqueness():
                good = by_size(model, size)
            case MaximumRisk(t) | AverageRisk(t):
                good = 1 / size <= t + 1e-12
            case KMap(k):
                good = size * (1 + x) >= k
            case DeltaPresence(low, high):
                good = low <= 1 / (1 + x) <= high
            case ConceptLikeness() | ConceptDisclosure() | BasicLikeness() | EnhancedLikeness() | DeltaDisclosure():
                good = over_concepts(model, members, data)
            case AlphaKAnonymity(alpha, k, _, named):
                good = size >= k and all(share(members, d) <= Fraction(str(alpha)) for d in named or whole)
            case _:
                q = np.array([sum(r[1] == d for r in members) / size for d in DISEASES])
                p = np.array([whole[d] / len(data) for d in DISEASES])
                good = work_of(model, q - p) <= model.t + 1e-9
        verdicts[x] = good
    return verdicts


def by_size(model, size):
    if isinstance(model, StrictAverageRisk):
        return 1 / size <= model.threshold + 1e-12 and size >= model.k
    return size >= (model.least_size if isinstance(model, EstimatedKMap) else 2)


def share(data, disease):
    return Fraction(sum(r[1] == disease for r in data), len(data))


def over_concepts(model, members, data):
    """The bounds of every group of values that a concept stands for, summed up one by one."""
    if not model.needs_concepts:
        return all(_near(model, share(members, d), share(data, d)) for d in {r[1] for r in data})
    kinds = [{d} for d in DISEASES] + [{"flu", "cold"}, {"ulcer", "colic"}]
    for kind in kinds:
        q, p = (sum(share(rows, d) for d in kind) for rows in (members, data))
        if p in (0, 1):
            continue
        if isinstance(model, ConceptLikeness):
            good = _near(EnhancedLikeness(model.beta, "disease"), q, p)
        else:
            several = sum(share(data, d) > 0 for d in kind) > 1
            good = q / p < 2**model.delta and q < 1 and (not several or q / p > 2**-model.delta)
        if not good:
            return False
    return True


def _near(model, q, p):
    """Whether the share of a value in a class is near enough to that in the table."""
    if isinstance(model, DeltaDisclosure):
        return q > 0 and abs(math.log2(q / p)) < model.delta
    limit = Fraction(str(model.beta))
    if isinstance(model, EnhancedLikeness):
        limit = min(limit, Fraction(-math.log(p)))
    return q <= p or (q - p) / p <= limit


def work_of(model, moved):
    ground = model.ground
    if isinstance(ground, Ordered):
        return np.abs(np.cumsum(moved)).sum() / 3
    if isinstance(ground, Tree):
        return (np.abs(moved).sum() / 2 + abs(moved[0] + moved[1])) / 2
    if isinstance(ground, Semantic):
        from scipy.optimize import linprog

        give, take = np.maximum(moved, 0), np.maximum(-moved, 0)
        sums = np.vstack([np.kron(np.eye(4), np.ones(4)), np.kron(np.ones(4), np.eye(4))])
        return linprog(NEAR.ravel(), A_eq=sums[:-1], b_eq=np.concatenate([give, take])[:-1]).fun
    return np.abs(moved).sum() / 2


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name} {getattr(getattr(m, 'ground', ''), 'name', '')}")
@given(data=rows)
@settings(max_examples=25, deadline=None)
def test_satisfied_follows_the_definition(model, data):
    counts = counted(data)
    found = model.satisfied(counts.weights, counts.histograms)
    expected = by_definition(model, data)
    values = counts.values_of("x")
    for row, code in enumerate(counts.column("x")):
        if counts.weights[row]:
            assert found[row] == expected[values[code]]
        elif not isinstance(model, DeltaPresence):
            assert found[row]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name} {getattr(getattr(m, 'ground', ''), 'name', '')}")
@given(data=rows, cut=st.lists(st.integers(0, 1), min_size=4, max_size=4))
@settings(max_examples=25, deadline=None)
def test_merging_classes_never_breaks_a_monotonic_promise(model, data, cut):
    if not model.monotonic:
        assert isinstance(model, PopulationUniqueness), "an estimate need not grow with the sizes of classes"
        return
    counts = counted(data)
    merged = counts.recoded([("low", "high", 9)], np.array([[2 if v == 9 else cut[v]] for v in _values(counts)]))
    if model.holds(counts.weights, counts.histograms):
        assert model.holds(merged.weights, merged.histograms)


BESIDE = DistinctDiversity(2, "disease", beside=("person",))
UNSPOILED = [model for model in [*MODELS, BESIDE] if model.unspoiled]


@pytest.mark.parametrize("model", UNSPOILED, ids=lambda m: m.name)
@given(data=rows, merged=st.sets(st.integers(0, 3)))
@settings(max_examples=40, deadline=None)
def test_a_class_that_keeps_an_unspoiled_promise_keeps_it_whatever_is_merged_into_it(model, data, merged):
    before = counted(data)
    after = counted([(9 if r[0] in merged else r[0], *r[1:]) for r in data])
    kept = dict(zip(_values(before), model.satisfied(before.weights, before.histograms).tolist(), strict=True))
    above = dict(zip(_values(after), model.satisfied(after.weights, after.histograms).tolist(), strict=True))
    if any(kept.get(x) for x in merged):
        assert above[9]


def test_others_may_be_spoiled_by_what_is_merged_into_them():
    """As the most frequent value of a class by one that holds nothing else; or a group by what is known besides."""
    assert {type(model) for model in UNSPOILED} == {
        KAnonymity, ProbabilisticKAnonymity, XYAnonymity, DistinctDiversity, KMap, MaximumRisk, EstimatedKMap,
    }  # fmt: skip
    assert not BESIDE.unspoiled


def _values(counts):
    return [counts.values_of("x")[c] for c in counts.column("x")]


@pytest.mark.parametrize("model_", MODELS, ids=lambda m: m.name)
def test_every_model_describes_itself(model_):
    promise = model_.promise()
    json.dumps(promise)
    assert promise["model"] in models()
    assert model_.describe().endswith(".")
    rebuilt = dict(promise)
    name = rebuilt.pop("model")
    if rebuilt.get("ground") in ("hierarchical", "semantic"):
        rebuilt["ground"] = model_.ground
    assert model(name, **rebuilt).promise() == promise


def test_closeness_compares_with_the_table_before_suppression():
    """Suppressing the odd class must not move the reference: the class kept is judged against everybody."""
    counts = Counts.of({"x": [0, 0, 0, 0, 1, 1]}, histograms={"disease": ["flu"] * 4 + ["cold"] * 2})
    promise = TCloseness(0.3, "disease")
    # Alone, class 0 equals itself; against the whole table it is 1/3 away.
    alone = Counts.of({"x": [0] * 4}, histograms={"disease": ["flu"] * 4})
    assert promise.holds(alone.weights, alone.histograms)
    assert promise.distances(counts.weights, counts.histograms) == pytest.approx([1 / 3, 2 / 3])
    assert not decide([promise], counts.weights, counts.histograms, limit=2).holds
    (fixed,) = bind([promise], counts)
    assert not fixed.holds(alone.weights, alone.histograms)
    assert fixed.bound(alone.histograms) is fixed
    with pytest.raises(BadInput, match="the reference table does not have"):
        fixed.satisfied(np.array([1]), Counts.of({"x": [0]}, histograms={"disease": ["ulcer"]}).histograms)


def test_decide_suppresses_per_class_and_asks_the_rest_about_the_table():
    weights = np.array([5, 1, 4])
    assert decide([KAnonymity(2)], weights, {}).holds is False
    found = decide([KAnonymity(2), AverageRisk(0.25)], weights, {}, limit=1)
    assert (found.holds, found.kept.tolist(), found.suppressed) == (True, [True, False, True], 1)
    # Three classes over ten records are 0.3 on average; two over nine 0.222.
    assert AverageRisk(0.25).holds(weights, {}) is False
    assert decide([KAnonymity(9)], weights, {}, limit=10).holds is False, "a table of suppressed records is no release"


def test_average_risk_is_checked_after_suppression():
    """A large class that is suppressed for its diversity no longer lowers the average."""
    counts = Counts.of(
        {"x": [0] * 20 + [1, 1, 2, 2]}, histograms={"disease": ["flu"] * 20 + ["flu", "cold", "flu", "cold"]}
    )
    promises = [DistinctDiversity(2, "disease"), AverageRisk(0.2)]
    assert AverageRisk(0.2).holds(counts.weights, counts.histograms)
    assert not decide(promises, counts.weights, counts.histograms, limit=20).holds


def test_presence_with_suppressed_classes():
    both = with_population(Counts.of({"x": [0, 1]}), Counts.of({"x": [0, 0, 1]}))
    promise = DeltaPresence(0.0, 0.5)
    assert decide([promise], both.weights, both.histograms, limit=1).holds
    assert not decide([DeltaPresence(0.1, 0.5)], both.weights, both.histograms, limit=1).holds


def test_population_must_contain_the_table():
    with pytest.raises(BadInput, match="must contain the table"):
        with_population(Counts.of({"x": [0, 0]}), Counts.of({"x": [0]}))
    with pytest.raises(BadInput, match="lacks the column 'x'"):
        with_population(Counts.of({"x": [0]}), Counts.of({"y": [0]}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KAnonymity(0), "k must be a whole number of at least 1"),
        (lambda: KAnonymity(2.5), "k must be a whole number"),
        (lambda: KAnonymity(True), "k must be a whole number"),
        (lambda: XYAnonymity(-1, "p"), "k must be"),
        (lambda: DistinctDiversity(0, "d"), "l must be"),
        (lambda: EntropyDiversity(0.5, "d"), "l must be a number of at least 1"),
        (lambda: RecursiveDiversity(0, 2, "d"), "c must be a number above 0"),
        (lambda: TCloseness(1.5, "d"), "t must be a number from 0 to 1"),
        (lambda: TCloseness(float("nan"), "d"), "t must be a number from 0 to 1"),
        (lambda: TCloseness(0.5, "d", "strange"), "is no ground distance"),
        (lambda: MaximumRisk(0), "above 0"),
        (lambda: AverageRisk(2), "above 0 and up to 1"),
        (lambda: DeltaPresence(0.6, 0.5), "above the upper bound"),
        (lambda: Semantic(("a",), np.array([[0.0, 1.0]])), "square matrix"),
        (lambda: Semantic(("a", "b"), np.array([[0.1, 1.0], [1.0, 0.0]])), "value and itself"),
        (lambda: model("k-anonimity", k=3), "Did you mean k-anonymity"),
        (lambda: model("k-anonymity", l=3), "takes no parameter"),
        (lambda: model("l-diversity", form="weird", l=2, column="d"), "has no form"),
        (lambda: suppression_limit(1.5, 10), "from 0 to 1"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(BadInput, match=message):
        make()


def test_a_hierarchy_with_several_tops_is_refused():
    with pytest.raises(BadHierarchy, match="one top"):
        Tree(Hierarchy.of_rows([("a", "x"), ("b", "y")]))


def test_a_missing_histogram_is_named():
    with pytest.raises(BadInput, match="'disease'"):
        DistinctDiversity(2, "disease").satisfied(np.array([1]), {})
    counts = Counts.of({"x": [0]}, histograms={"disease": ["flu"]})
    with pytest.raises(BadInput, match="has 1 classes, the table 2"):
        DistinctDiversity(2, "disease").satisfied(np.array([1, 1]), counts.histograms)


def test_validate_refuses_what_cannot_work():
    counts = Counts.of({"x": [0, 0, 1]}, histograms={"disease": ["flu", "flu", "cold"]})
    with pytest.raises(BadInput, match="no privacy model"):
        validate([], ["x"])
    with pytest.raises(BadInput, match="no quasi-identifier"):
        validate([KAnonymity(2)], [])
    with pytest.raises(BadInput, match="choose one role"):
        validate([DistinctDiversity(2, "disease")], ["x", "disease"])
    with pytest.raises(Infeasible, match="3 rows as one class breaks it") as caught:
        validate([KAnonymity(4)], ["x"], counts)
    assert caught.value.relax == ("a weaker k-anonymity",)
    with pytest.raises(Infeasible):
        validate([DistinctDiversity(3, "disease")], ["x"], counts)
    with pytest.raises(Infeasible):
        validate([EntropyDiversity(2, "disease")], ["x"], counts)
    validate([KAnonymity(3), DistinctDiversity(2, "disease"), TCloseness(0.0, "disease")], ["x"], counts)
    both = with_population(counts, Counts.of({"x": [0, 0, 1, 1, 2]}))
    validate([KMap(4), DeltaPresence(0.5, 0.7)], ["x"], both)
    with pytest.raises(Infeasible):
        validate([DeltaPresence(0.7, 0.8)], ["x"], both)


def test_combinations():
    both = [KAnonymity(2), DistinctDiversity(2, "disease"), TCloseness(0.2, "disease")]
    assert monotonic(both)
    assert needed_columns(both) == ("disease",)
    counts = Counts.of({"x": [0, 0, 1, 1]}, histograms={"disease": ["flu", "cold", "flu", "flu"]})
    assert judge(both[:2], counts).kept.tolist() == [True, False]


def test_links_and_semantic_path_agree_on_a_tree():
    tree = from_edges([("flu", "lung"), ("cold", "lung"), ("ulcer", "gut"), ("lung", "ill"), ("gut", "ill")])
    values = ("flu", "cold", "ulcer")
    counts = Counts.of({"x": [0, 0, 0, 1]}, histograms={"d": ["flu", "flu", "cold", "ulcer"]})
    links = TCloseness(0.5, "d", Links(tree)).distances(counts.weights, counts.histograms)
    path = distance("path", tree)
    scale = path.maximum / (2 * (tree.max_depth - 1))
    exact = TCloseness(0.5, "d", Semantic.of(path, values)).distances(counts.weights, counts.histograms)
    assert links == pytest.approx(exact * scale)
    named = Links(tree, {"F": "flu", "C": "cold", "U": "ulcer"})
    recounted = Counts.of({"x": [0, 0, 0, 1]}, histograms={"d": ["F", "F", "C", "U"]})
    assert TCloseness(0.5, "d", named).distances(recounted.weights, recounted.histograms) == pytest.approx(links)
    graph = from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    with pytest.raises(BadInput, match="several parents"):
        Links(graph)
    with pytest.raises(BadInput, match="has no concept"):
        Links(tree, {"F": "flu"}).distances(recounted.histograms["d"], np.array([2, 1, 1]))


def test_ordered_ground_sorts_numbers_as_numbers():
    counts = Counts.of({"x": [0, 0, 1]}, histograms={"pay": ["9", "10", "100"]})
    by_rank = TCloseness(1.0, "pay", "ordered").distances(counts.weights, counts.histograms)
    assert by_rank == pytest.approx([(1 / 6 + 1 / 3) / 2, (1 / 3 + 2 / 3) / 2])
    by_size = TCloseness(1.0, "pay", "numeric").distances(counts.weights, counts.histograms)
    assert by_size == pytest.approx([(1 / 6 * 1 + 1 / 3 * 90) / 91, (1 / 3 * 1 + 2 / 3 * 90) / 91])
    missing = Counts.of({"x": [0, 0]}, histograms={"pay": [None, 3]})
    for kind in ("ordered", "numeric"):
        with pytest.raises(BadInput, match=r"order|numbers"):
            TCloseness(1.0, "pay", kind).satisfied(missing.weights, missing.histograms)
    with pytest.raises(BadInput, match="lacks 1 of"):
        TCloseness(1.0, "pay", Ordered(("9", "10"))).satisfied(counts.weights, counts.histograms)
