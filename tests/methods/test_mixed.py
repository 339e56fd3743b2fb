"""One call for tables of words, numbers, ordered categories and sets."""

from __future__ import annotations

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.errors import BadInput, UnknownConcept
from keepsense.methods.edit_rules import Edit, mend
from keepsense.methods.method import method as find_method
from keepsense.methods.perturb.noise import noise
from keepsense.methods.perturb.noise_on_sets import noise_on_sets
from keepsense.methods.perturb.rank_swapping import rank_swapping
from keepsense.methods.perturb.strict_rank_swapping import check_groups
from keepsense.methods.records import join
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.semantics.distance import distance
from keepsense.sets.set_distance import Sets
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import rmse

LEVELS = ["none", "school", "college", "doctorate"]


def _taxonomy() -> Taxonomy:
    return from_edges([(f"{a}.{b}", f"{a}") for a in range(5) for b in range(5)] + [(f"{a}", "top") for a in range(5)])


def _table(rows: int = 120) -> tuple[Counts, list[Attribute]]:
    taxonomy = _taxonomy()
    rng = np.random.default_rng(4)
    leaves = [taxonomy.ids[c] for c in taxonomy.leaves()]
    counts = Counts.of(
        {
            "illness": [leaves[i] for i in rng.integers(0, 25, rows)],
            "education": [LEVELS[i] for i in rng.integers(0, 4, rows)],
            "age": rng.integers(20, 90, rows).tolist(),
            "drugs": [";".join(sorted({leaves[i] for i in rng.integers(0, 25, 3)})) for _ in range(rows)],
        }
    )
    measure = distance("wu-palmer", taxonomy)
    return counts, [
        Nominal.of(counts, "illness", measure),
        Ordered.of(counts, "education", levels=LEVELS),
        Ordered.of(counts, "age"),
        Sets.of(counts, "drugs", measure, delimiter=";"),
    ]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rank swapping", {}),
        ("rank swapping of tuples", {}),
        ("strict rank swapping", {}),
        ("strict rank swapping", {"together": True}),
    ],
)
def test_swaps_keep_every_column_whatever_its_kind(method: str, options: dict[str, bool]) -> None:
    counts, columns = _table()
    cells = find_method(method).function(counts, columns, k=6, rng=1, **options)
    cells.check(counts)
    assert cells.names == ("illness", "education", "age", "drugs")
    released = cells.apply(counts)
    for column in columns:
        before = dict(zip(counts.values_of(column.name), counts.marginal(column.name), strict=True))
        after = dict(zip(released.values_of(column.name), released.marginal(column.name), strict=True))
        assert before == {value: n for value, n in after.items() if n}
        assert cells.info["unchanged"][column.name] < counts.total
    if method.startswith("strict"):
        assert check_groups(counts, cells, 6) <= 1 / 6


@pytest.mark.parametrize("method", ["noise", "correlated noise"])
def test_noise_gives_each_kind_values_of_its_kind(method: str) -> None:
    counts, columns = _table()
    function = find_method(method).function
    cells = function(counts, columns, alpha=0.4, rng=1)
    cells.check(counts)
    taxonomy = _taxonomy()
    assert cells.names == ("illness", "education", "age", "drugs")
    assert all(taxonomy.get(str(v)) is not None for v in cells.values[0])
    assert set(cells.values[1]) <= set(LEVELS)
    assert all(isinstance(v, int) for v in cells.values[2])
    assert all(taxonomy.get(word) is not None for v in cells.values[3] for word in str(v).split(";"))
    small, large = (function(counts, columns, alpha=a, rng=1) for a in (0.05, 1.0))
    for column in columns[:3]:
        assert rmse(counts, small, column) < rmse(counts, large, column)


def test_edits_are_respected() -> None:
    counts, columns = _table()
    rule = Edit("no doctor below 30", {"education": {"doctorate"}, "age": lambda v: int(str(v)) < 30})
    for perturbed in (rank_swapping(counts, columns, k=8, rng=2), noise(counts, columns, alpha=0.3, rng=2)):
        cells = mend(counts, perturbed, [rule], rng=3)
        cells.check(counts)
        levels = [cells.values[1][c] for c in cells.codes[:, 1]]
        ages = [int(str(cells.values[2][c])) for c in cells.codes[:, 2]]
        assert not any(level == "doctorate" and age < 30 for level, age in zip(levels, ages, strict=True))


def test_set_distances_and_empty_sets() -> None:
    measure = distance("feature", _taxonomy())
    counts = Counts.of({"s": [("0.0", "0.1"), ("0.0",), (), ("0.1", "0.0", "0.0"), ()]})
    column = Sets.of(counts, "s", measure)
    assert column.matrix[0, 3] == 0.0
    assert column.matrix[1, 2] == 1.0
    assert np.allclose(column.matrix, column.matrix.T)
    assert column.totals() == pytest.approx(column.matrix @ column.weights)
    assert (np.diff(column.row(1)[column.order(1)]) >= 0).all()
    kinds = [Sets.of(counts, "s", measure, kind=kind).matrix for kind in ("minimum", "average", "maximum-sum")]
    assert all(not m.diagonal().any() for m in kinds)


def test_noise_on_sets_keeps_the_form_and_counts_what_falls_together() -> None:
    measure = distance("wu-palmer", _taxonomy())
    for value, kind in ((("0.0", "0.1"), tuple), (frozenset({"0.0", "0.1"}), frozenset)):
        counts = Counts.of({"s": [value, type(value)(["4.4"])] * 40 + [type(value)([])]})
        cells = noise_on_sets(counts, [Sets.of(counts, "s", measure)], alpha=0.5, rng=1)
        cells.check(counts)
        assert all(isinstance(v, kind) for v in cells.values[0])
        shrunk = sum(
            int(n)
            for s, c, n in zip(cells.source, cells.codes[:, 0], cells.multiplicity, strict=True)
            if len(cells.values[0][c]) < len(counts.values[0][counts.codes[s, 0]])  # type: ignore[arg-type]
        )
        assert cells.info["shrunk"]["s"] == shrunk


def test_joining_keeps_each_part() -> None:
    counts = Counts.of({"x": ["a", "a", "b"], "y": [1, 2, 2]})
    x = rank_swapping(counts, [Nominal.of(counts, "x", 1.0 - np.eye(2))], k=2, rng=1)
    y = rank_swapping(counts, [Ordered.of(counts, "y")], k=2, rng=1)
    both = join(counts, [x, y], rng=1)
    both.check(counts)
    assert both.names == ("x", "y")
    assert (both.apply(counts).marginal("x") == counts.marginal("x")).all()
    with pytest.raises(BadInput, match="several recodings"):
        join(counts, [x, x])
    lost = Cells(x.names, x.values, x.source[:1], x.codes[:1], x.multiplicity[:1])
    with pytest.raises(BadInput, match="do not add up"):
        join(counts, [lost, y])


def test_bad_input_is_refused_by_name() -> None:
    counts, columns = _table(20)
    with pytest.raises(BadInput, match="needs k"):
        rank_swapping(counts, columns)
    with pytest.raises(BadInput, match="at least one"):
        noise(counts, [], alpha=0.1)
    measure = distance("wu-palmer", _taxonomy())
    with pytest.raises(BadInput, match="delimiter"):
        Sets.of(counts, "drugs", measure)
    with pytest.raises(BadInput, match="holds a int"):
        Sets.of(counts, "age", measure)
    with pytest.raises(UnknownConcept, match="'s'"):
        Sets.of(Counts.of({"s": [("nothing such",)]}), "s", measure)
    with pytest.raises(BadInput, match="empty sets only"):
        Sets.of(Counts.of({"s": [(), None]}), "s", measure)


def test_items_with_the_delimiter_inside_stand_in_quotes() -> None:
    from keepsense.semantics.distance import distance
    from keepsense.taxonomy.taxonomy_builder import from_edges

    spices = from_edges([("salt, sea", "salt"), ("salt, rock", "salt"), ("salt", "spice"), ("pepper", "spice")])
    counts = Counts.of({"s": ['"salt, sea",pepper', "pepper", '"salt, rock"'] * 4})
    column = Sets.of(counts, "s", distance("feature", spices), delimiter=",")
    assert sorted(map(str, column.items.values)) == ["pepper", "salt, rock", "salt, sea"]
    assert column.write(["pepper", "salt, sea"]) == 'pepper,"salt, sea"'
    released = noise_on_sets(counts, [column], alpha=0.5, rng=1).apply(counts).values_of("s")
    again = Sets.of(Counts.of({"s": list(released)}), "s", distance("feature", spices), delimiter=",")
    assert set(map(str, again.items.values)) <= {"pepper", "salt", "salt, rock", "salt, sea", "spice"}
