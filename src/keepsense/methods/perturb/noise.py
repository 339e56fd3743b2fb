"""Semantic noise on a table, uncorrelated or correlated (SNA-1, SNA-2): words and sets by meaning, numbers by scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method import WORDS, Method, Shown, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.noise_on_numbers import moved_numbers, noise_on_numbers, positions_of
from keepsense.methods.perturb.noise_on_sets import noise_on_sets
from keepsense.methods.perturb.noise_on_words import (
    ALONE,
    NO_PROMISE,
    NOISE,
    NOISE_INPUTS,
    REFERENCE,
    Among,
    Chosen,
    Distribution,
    Reference,
    Ties,
    check_noise,
    correlated_errors,
    moments,
    moved_words,
    noise_on_words,
)
from keepsense.methods.records import cells_of, joined, records_of
from keepsense.methods.suitability import FOR_WORDS, PROMISES_NOTHING, UNKNOWN_NEARNESS, Fit, Situation, When
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.semantics.distance_correlation import covariance_matrix, nearest_semidefinite
from keepsense.semantics.semantic_operators import Mean, semantic_mean
from keepsense.sets.set_distance import Sets

# Words and numbers together: the errors of a record are drawn at once


def words_with_numbers(  # noqa: PLR0913
    counts: Counts,
    words: Sequence[Nominal],
    numbers: Sequence[Ordered],
    alpha: float,
    *,
    reference: Reference,
    pairs: Sequence[tuple[str, str]] | None,
    distribution: Distribution,
    ties: Ties,
    among: Among,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    """Noise whose errors in words and in numbers are drawn together, for each record.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> counts = Counts.of({"pet": ["pug", "lab", "cat", "cat"] * 5, "age": [9, 8, 2, 1] * 5})
    >>> columns = [Nominal.of(counts, "pet", distance("wu-palmer", pets))], [Ordered.of(counts, "age")]
    >>> cells = words_with_numbers(counts, *columns, 0.2, reference="mean", pairs=None, distribution="normal",
    ...     ties="random", among="all", rng=np.random.default_rng(1), listener=None)
    >>> cells.names, sorted(cells.info["variance"]["pet"])
    (('pet', 'age'), ['before', 'expected', 'reached'])
    """
    check_noise(counts, words, alpha)
    check_noise(counts, numbers, alpha)
    means = [semantic_mean(column, over="domain") for column in words]
    covariance, mended = _joint_covariance(counts, words, numbers, means, reference)
    errors = correlated_errors(distribution, rng, counts.total, alpha * covariance)
    of_words, of_numbers = errors[:, : len(words)], errors[:, len(words) :]
    chosen = Chosen(reference, pairs, ties, among)
    concepts, facts = moved_words(counts, words, of_words, means, chosen, rng=rng, listener=listener)
    written, more = moved_numbers(counts, numbers, of_numbers, listener=listener)
    facts |= moments(counts, words, concepts, means, alpha)
    now, source = [np.unique(moved, return_inverse=True) for moved in concepts], records_of(counts)
    same = {
        column.name: int((column.bound()[1][counts.column(column.name)[source]] == moved).sum())
        for column, moved in zip(words, concepts, strict=True)
    }
    info = {
        **facts,
        "unchanged": {**same, **more["unchanged"]},
        "target_rmse": {**facts["target_rmse"], **more["target_rmse"]},
        "method": "semantic noise, correlated, with numbers",
        "alpha": float(alpha),
        "covariance": covariance.tolist(),
        "covariance_mended": mended,
    }
    values = [column.spell(held) for column, (held, _) in zip(words, now, strict=True)]
    codes = [code for _, code in now]
    return cells_of(
        [*(column.name for column in words), *(column.name for column in numbers)],
        [*values, *(values for values, _ in written)],
        source,
        [*codes, *(code for _, code in written)],
        info,
    )


def _joint_covariance(
    counts: Counts, words: Sequence[Nominal], numbers: Sequence[Ordered], means: Sequence[Mean], reference: Reference
) -> tuple[Floats, bool]:
    """How words and numbers vary together: among words Eq. 6.3, among numbers as usual.

    Between a word and a number the size is their distance correlation, and the sign that of the covariance of the
    number with how far the word is from the reference (from the mean where that is a partner), because that is what
    the sign of a word's error means.
    """
    table, usual = positions_of(counts, numbers)
    apart, _ = covariance_matrix(counts, [*words, *numbers])
    m, source = len(words), records_of(counts)
    scale = np.sqrt(np.maximum(apart.diagonal(), 0.0))
    strength = apart / np.maximum(np.outer(scale, scale), 1e-300)
    deviation = np.concatenate([scale[:m], np.sqrt(usual.diagonal())])
    joint = np.empty_like(apart)
    joint[:m, :m], joint[m:, m:] = apart[:m, :m], usual
    for i, (column, mean) in enumerate(zip(words, means, strict=True)):
        distance, concepts = column.bound()
        fixed = distance.taxonomy.root if reference == "root" else mean.concept
        away = distance.against_all(np.array([fixed]))[0][concepts][counts.column(column.name)[source]]
        for j in range(m, len(apart)):
            sign = -1.0 if np.mean((away - away.mean()) * table[:, j - m]) < 0 else 1.0
            joint[i, j] = joint[j, i] = sign * strength[i, j] * deviation[i] * deviation[j]
    return _semidefinite(joint, deviation)


def _semidefinite(joint: Floats, deviation: Floats) -> tuple[Floats, bool]:
    """The nearest matrix that can be a covariance, judged in units of each column's own deviation."""
    units = np.outer(deviation, deviation)
    mended, changed = nearest_semidefinite(joint / units)
    if not changed:
        return joint, False
    spread = np.sqrt(mended.diagonal())
    back: Floats = mended / np.outer(spread, spread) * units  # each column keeps its own variance
    return back, True


# Methods


def noise(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    alpha: float = NOISE,
    reference: Reference = "mean",
    pairs: Sequence[tuple[str, str]] | None = None,
    distribution: Distribution = "normal",
    ties: Ties = "random",
    among: Among = "all",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Add uncorrelated semantic noise to columns of words (Rodríguez-García 2017, Sec. 6.3), and along with them to
    numbers (`noise_on_numbers`) and sets (`noise_on_sets`).

    A record's error is drawn with mean 0 and variance alpha times the column's semantic variance. Its value becomes the
    concept of the domain nearest to it among those at least as far as the error (Eq. 6.2). The sign says on which side:
    positive is farther from the reference than the value is, negative nearer. `mean` takes the semantic mean (SNA-1, it
    keeps the mean best), `root` the taxonomy's root (SNA-3), `partner` the record's value in a second column of the
    same domain (SNA-2; `pairs` of columns, else taken two by two). Of equally near concepts any is drawn, or the first
    of the taxonomy (`ties="first"`). Where no concept is far enough the farthest on its side is taken, where none is
    on its side the sign is dropped; `info` counts both. Noise of its own for each column: their association suffers,
    see `correlated_noise`.

    `info["variance"]` tells the variance expected, 1 + alpha times what it was, and the one reached, which is mostly
    less: words cannot move beyond the last one, and concepts above others are nearer to all. With `among` "leaves" only
    concepts with nothing below them are taken: where the column's own words are such, variance and mean mostly come
    nearer to what they should be, and released words are as exact as the column's own.

    This is masking, not differential privacy: the amount of noise depends on the data and nothing is promised about
    single persons, so `models` are not looked at. O(distinct values x concepts log concepts + rows log concepts).

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog"), ("fox", "dog")])
    >>> counts = Counts.of({"pet": ["pug", "lab", "lab", "cat"] * 5})
    >>> cells = noise(counts, [Nominal.of(counts, "pet", distance("wu-palmer", pets))], alpha=0.5, rng=1)
    >>> cells.check(counts); cells.info["alpha"]
    0.5
    """
    options = {"reference": reference, "pairs": pairs, "distribution": distribution, "ties": ties, "among": among}
    return _noisy(counts, columns, alpha, options, False, generator(rng), listener)


def correlated_noise(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    alpha: float = NOISE,
    reference: Reference = "mean",
    pairs: Sequence[tuple[str, str]] | None = None,
    distribution: Distribution = "normal",
    ties: Ties = "random",
    among: Among = "all",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Add semantic noise with the columns' own covariance structure (Rodríguez-García 2017, Sec. 6.4).

    Errors are drawn together, with covariance alpha times the matrix of distance variances and covariances (Eq. 6.3),
    and applied as in `noise`: `mean` (SNA-1) keeps the means best; `partner` (SNA-2, two columns of one domain, or
    disjoint pairs) and `root` (SNA-3, any domains and any number of columns) keep the distance correlation best.
    Numbers vary with words as strongly as their distance correlation says, upwards where words farther from the
    reference go with larger numbers; sets get noise of their own. Not differential privacy, so `models` are not looked
    at. Costs what `noise` does and the distance matrices.

    >>> counts = Counts.of({"age": [20, 30, 40, 50], "pay": [1, 2, 3, 5]})
    >>> cells = correlated_noise(counts, [Ordered.of(counts, "age"), Ordered.of(counts, "pay")], alpha=0.1, rng=1)
    >>> cells.info["method"]
    'noise on numbers, correlated'
    """
    options = {"reference": reference, "pairs": pairs, "distribution": distribution, "ties": ties, "among": among}
    return _noisy(counts, columns, alpha, options, True, generator(rng), listener)


def _noisy(
    counts: Counts,
    columns: Sequence[Attribute],
    alpha: float,
    options: dict[str, Any],
    correlated: bool,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    words = [column for column in columns if isinstance(column, Nominal)]
    numbers = [column for column in columns if isinstance(column, Ordered)]
    sets = [column for column in columns if isinstance(column, Sets)]
    if not columns or len(words) + len(numbers) + len(sets) < len(columns):
        raise BadInput("give columns of words, numbers, ordered categories or sets, at least one")
    drawn: dict[str, Any] = {"alpha": alpha, "rng": rng, "listener": listener}
    shape = options["distribution"]
    parts = []
    if correlated and words and numbers:
        parts.append(words_with_numbers(counts, words, numbers, **drawn, **options))
        words, numbers = [], []
    if words:
        together = correlated and (len(words) > 1 or len(words) == len(columns))
        parts.append(noise_on_words(counts, words, **drawn, correlated=together, **options))
    if numbers:
        together = correlated and (len(numbers) > 1 or len(numbers) == len(columns))
        parts.append(noise_on_numbers(counts, numbers, **drawn, correlated=together, distribution=shape))
    for column in sets:
        side: Literal["mean", "root"] = "mean" if options["reference"] == "partner" else options["reference"]
        parts.append(noise_on_sets(counts, [column], **drawn, reference=side, distribution=shape))
    return joined(counts, columns, parts, rng)


def noise_for(columns: int, keep: Literal["mean", "correlation"], *, same_taxonomy: bool) -> tuple[bool, Reference]:
    """Which semantic noise suits how many columns of words and what is to be kept (Rodríguez-García 2017, Table 6.1).

    Returns whether it is to be correlated, and the reference: the mean is SNA-Algorithm 1, the partner 2, the root 3.

    >>> noise_for(1, "mean", same_taxonomy=True)
    (False, 'mean')
    >>> noise_for(2, "correlation", same_taxonomy=True), noise_for(3, "correlation", same_taxonomy=True)
    ((True, 'partner'), (True, 'root'))
    """
    if columns == 1:
        return False, "mean"
    if keep == "mean":
        return True, "mean"
    return True, "partner" if columns == 2 and same_taxonomy else "root"


def _choice(situation: Situation) -> tuple[bool, Reference]:
    """What Table 6.1 says of a table."""
    keep: Literal["mean", "correlation"] = "correlation" if situation.purpose == "correlations" else "mean"
    return noise_for(situation.columns, keep, same_taxonomy=situation.same_taxonomy)


def _suits(*, correlated: bool) -> tuple[tuple[When, float, str], ...]:
    """A point more where all columns hold words and Table 6.1 names the method."""
    text = "suits {0.columns} column(s) of words of which the %s is to be kept"

    def named(situation: Situation) -> bool:
        return set(situation.kinds) == {"nominal"} and _choice(situation)[0] == correlated

    return (
        (lambda s: s.purpose == "correlations" and named(s), 1.0, text % "correlation"),
        (lambda s: s.purpose != "correlations" and named(s), 1.0, text % "mean"),
    )


_SINGLE = "keeps means of single columns, and variances nearly, with words as exact as they were"


def _named(kind: str, references: Mapping[int, Reference]) -> dict[str, dict[str, Reference]]:
    """What Rodríguez-García (2017, Table 6.1) calls the methods by the reference they take: SNA-Algorithm 1, 2, 3."""
    return {
        f"{kind}{name}{number}": {"reference": reference}
        for number, reference in references.items()
        for name in ("SNA-", "SNA-Algorithm", "SNA-Algorithm ")
    }


NOISE_METHOD = registered(
    Method(
        name="noise",
        title="Uncorrelated semantic noise",
        function=noise,
        runner=by_columns,
        step=by_columns,
        family="noise addition",
        place=1,
        variants=_named("uncorrelated ", {1: "mean"}) | _named("", {1: "mean"}),
        short="each column by itself",
        intent="Replace each word by one as far away in meaning as a random error says, each column by itself.",
        use=("one column of words is released, or columns that do not depend on each other",),
        avoid=("columns depend on each other: their correlation suffers",),
        inputs=NOISE_INPUTS,
        guarantee=NO_PROMISE,
        cost="Distinct values x concepts of the domain, then one pass.",
        paper=(
            "Rodríguez-García 2017, Sec. 6.3 (SNA-Algorithms 1 to 3). In project files it takes numbers and sets along."
        ),
        example="Influenza becomes bronchitis, now and then pneumonia, hardly ever fracture.",
        truthful=False,
        unweighed="it changes each column by itself",
        sets="together",
        gaps="filled",
        fillings={"variation": ALONE, "reference": REFERENCE},
        fit=Fit(
            purposes={"single columns": (6.5, _SINGLE)},
            better=_suits(correlated=False),
            unfit=(UNKNOWN_NEARNESS, FOR_WORDS),
            cautions=(PROMISES_NOTHING,),
            start=lambda s: {"alpha": 0.3, "reference": "mean"},
        ),
        shown=Shown(kinds=WORDS, settings={"alpha": 0.3, "reference": "mean"}),
    )
)


METHOD = registered(
    Method(
        name="correlated noise",
        variants=_named("correlated ", {1: "mean", 2: "partner", 3: "root"}) | _named("", {2: "partner", 3: "root"}),
        title="Correlated semantic noise",
        function=correlated_noise,
        runner=by_columns,
        step=by_columns,
        family="noise addition",
        place=2,
        short="columns together, as they vary together",
        intent="Move words of several columns together, so that the columns still belong together afterwards.",
        use=("correlations between columns of words matter",),
        avoid=("only one column is released", "a promise is needed"),
        inputs=NOISE_INPUTS,
        guarantee=NO_PROMISE,
        cost="As uncorrelated noise, and the distance matrices of the columns.",
        paper="Rodríguez-García 2017, Sec. 6.4; which reference to take: Table 6.1.",
        example="Diagnosis and treatment move in the same direction.",
        truthful=False,
        unweighed="each column gets noise by its own spread",
        sets="together",
        gaps="filled",
        fillings={
            "variation": Filling("covariance", "how much the columns vary, and how far they vary together"),
            "reference": Filling("root", "the root, for correlations (the mean, where means matter more)"),
        },
        fit=Fit(
            purposes={
                "single columns": (6.4, _SINGLE),
                "correlations": (
                    9.0,
                    "errors vary together as the columns do, so that these still belong together",
                ),
            },
            better=_suits(correlated=True),
            unfit=(UNKNOWN_NEARNESS, FOR_WORDS, (lambda s: s.columns < 2, "it needs at least two columns")),
            cautions=(PROMISES_NOTHING,),
            start=lambda s: {"alpha": 0.3, "reference": _choice(s)[1]},
        ),
        shown=Shown(kinds=WORDS, settings={"alpha": 0.3, "reference": "root"}),
    )
)
