"""Semantic noise on streams (SNA-3): records are protected as they come, one or a batch, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from keepsense.counts import Counts, Value, encode
from keepsense.errors import BadInput, UnknownConcept
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.perturb.noise_on_words import (
    ALONE,
    NO_PROMISE,
    NOISE,
    NOISE_INPUTS,
    REFERENCE,
    Candidates,
    Distribution,
    check_noise,
    unit_errors,
)
from keepsense.methods.suitability import FOR_WORDS, UNKNOWN_NEARNESS, Fit, always
from keepsense.privacy.privacy_model import Model
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.semantic_operators import semantic_mean, semantic_variance


def noise_on_streams(
    counts: Counts,
    columns: Sequence[Nominal],
    models: Sequence[Model] = (),
    *,
    alpha: float = NOISE,
    reference: Literal["mean", "root"] = "mean",
    distribution: Distribution = "normal",
    remember: int = 256,
    rng: Random = None,
) -> dict[str, NoiseStream]:
    """A stream of noise for each column, learned from the counts of a sample (`NoiseStream`).

    Nothing is promised about single records, so `models` are not looked at.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> topics = from_edges([("flu", "ill"), ("cold", "ill"), ("gout", "ill"), ("ill", "top"), ("jazz", "top")])
    >>> sample = Counts.of({"query": ["flu", "cold", "jazz", "flu"]})
    >>> streams = noise_on_streams(sample, [Nominal.of(sample, "query", distance("wu-palmer", topics))], alpha=0.3)
    >>> len(streams["query"].protect(["flu", "gout"]))
    2
    """
    rng = generator(rng)
    return {
        column.name: NoiseStream(
            counts, column, alpha, reference=reference, distribution=distribution, remember=remember, rng=rng
        )
        for column in columns
    }


class NoiseStream:
    """Adds semantic noise to values as they arrive (SNA-1 or SNA-3 on the fly; Rodríguez-García 2017, Sec. 6.1, 8.3).

    Mean and variance are learned once, from a sample of the column; afterwards every record is treated by itself, with
    the distribution `noise` has. Sorted candidates are kept for the `remember` values used last, two thirds of a
    megabyte each in WordNet; where a batch holds more different values, all are sorted anew each time. The same value
    gets fresh noise each time: somebody who sends one query again and again lets it be guessed from the answers.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> topics = from_edges([("flu", "ill"), ("cold", "ill"), ("gout", "ill"), ("ill", "top"), ("jazz", "top")])
    >>> sample = Counts.of({"query": ["flu", "cold", "jazz", "flu"]})
    >>> stream = NoiseStream(sample, Nominal.of(sample, "query", distance("wu-palmer", topics)), 0.3, rng=1)
    >>> [len(batch) for batch in stream.batches([["flu", "gout"], ["jazz"]])]
    [2, 1]
    """

    def __init__(
        self,
        sample: Counts,
        column: Nominal,
        alpha: float,
        *,
        reference: Literal["mean", "root"] = "mean",
        distribution: Distribution = "normal",
        remember: int = 256,
        rng: Random = None,
    ) -> None:
        check_noise(sample, [column], alpha)
        if reference not in ("mean", "root"):
            raise BadInput(f"reference = {reference!r}: a stream takes 'mean' or 'root'")
        if remember < 1:
            raise BadInput(f"remember = {remember!r}: at least one value must be remembered")
        distance, _ = column.bound()
        mean = semantic_mean(column, over="domain")
        self.column = column
        self.distance = distance
        self.reference = mean.concept if reference == "mean" else distance.taxonomy.root
        self.scale = float(np.sqrt(alpha * semantic_variance(column, mean)))
        self.distribution = distribution
        self.remember = remember
        self.not_far_enough = 0
        self.sign_dropped = 0
        self._free = self.reference if reference == "mean" else None
        self._away = distance.against_all(np.array([self.reference]))[0]
        self._known: OrderedDict[int, Candidates] = OrderedDict()
        self._rng = generator(rng)
        own = dict(zip(column.values, column.bound()[1].tolist(), strict=True))
        self._concepts: dict[Value, int] = own

    def protect(self, values: Sequence[Value]) -> list[Value]:
        """The batch with noise, in its order."""
        distinct, codes = encode(values)
        concepts = self._look_up(distinct)
        errors = unit_errors(self.distribution, self._rng, len(codes), 1)[:, 0] * self.scale
        out = np.empty(len(codes), dtype=np.int32)
        for i, concept in enumerate(concepts):
            mine = np.flatnonzero(codes == i)
            drawn = self._candidates(concept).draw(errors[mine], concept, self._rng)
            out[mine] = drawn.concepts
            self.not_far_enough += drawn.short
            self.sign_dropped += drawn.unsided
        found, code = np.unique(out, return_inverse=True)
        spelled = self.column.spell(found)
        return [spelled[c] for c in code.tolist()]

    def batches(self, stream: Iterable[Sequence[Value]]) -> Iterator[list[Value]]:
        """Each batch with noise, as soon as it comes."""
        for batch in stream:
            yield self.protect(batch)

    def _look_up(self, values: Sequence[Value]) -> list[int]:
        taxonomy = self.distance.taxonomy
        found = [self._concepts[v] if v in self._concepts else taxonomy.get(str(v)) for v in values]
        concepts = [c for c in found if c is not None]
        if len(concepts) < len(found):
            raise UnknownConcept(
                f"column {self.column.name!r}: {len(found) - len(concepts)} value(s) of the batch are no concept of "
                f"{taxonomy.name!r}; map or drop them before they are protected"
            )
        return concepts

    def _candidates(self, concept: int) -> Candidates:
        known = self._known.get(concept)
        if known is None:
            row = self.distance.against_all(np.array([concept]))[0]
            known = Candidates.of(row, concept, self._free, self._away)
            self._known[concept] = known
            if len(self._known) > self.remember:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(concept)
        return known


METHOD = registered(
    Method(
        name="noise on streams",
        title="Semantic noise on streams",
        function=noise_on_streams,
        family="noise addition",
        place=5,
        short="records as they come",
        intent="Move words of records one by one, as they come, without keeping the records.",
        use=("data arrives all the time and is released at once",),
        avoid=("the whole table is at hand: its own variation is the better measure",),
        inputs=NOISE_INPUTS,
        guarantee=NO_PROMISE,
        cost="A bounded memory; one lookup a record.",
        paper="Rodríguez-García 2017, Sec. 6.3, applied record by record.",
        example="Every admission is released within the second, its diagnosis moved a little.",
        truthful=False,
        unweighed="it changes each column by itself",
        gaps="filled",
        streaming=True,
        fillings={"variation": ALONE, "reference": REFERENCE},
        fit=Fit(
            unfit=(
                UNKNOWN_NEARNESS,
                FOR_WORDS,
                (always, "it is for records that are released one by one as they come"),
            ),
        ),
        shown=Shown(why_not="it is noise on words, record by record as they come"),
    )
)
