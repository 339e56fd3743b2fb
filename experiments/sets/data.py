"""The set-valued data of the experiment: grocery baskets, diagnoses of hospital encounters, and drawn query logs.

The paper's own data, the queries of 1,000 users of AOL, cannot be had. In its place stands a log drawn by a fixed seed
over the categories of the Open Directory that are at hand: 1,000 users, every query a category's name and a word nobody
else uses, so that, as in the paper, most terms are unique and only meaning tells that two belong together. How many
queries a user has is heavy-tailed, as in logs: log-normal with a mean of 53 and a median of 24, at least one (the paper
tells only the sum, about 56,000). The other two are real.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from keepsense.counts import Value
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.sets.concept_sets import ConceptSets, map_sets
from keepsense.sets.item_sets import ItemSets, from_lists, read_baskets
from keepsense.taxonomy.formats.edge_tables import read_edges
from keepsense.taxonomy.formats.open_directory import read_open_directory
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

SEED = 2014
SAMPLE = 1_000
MEAN, MEDIAN = 53, 24
"""Queries of a user: few have many."""


def data_folder() -> Path:
    """Where the real data lies: `KEEPSENSE_DATA`, or the folder beside the checkout."""
    given = Path(os.environ.get("KEEPSENSE_DATA") or "../shared/data")
    folder = given if given.is_absolute() else Path(__file__).resolve().parents[2] / given
    if not folder.is_dir():
        raise SystemExit("the experiments need the real data folder; set KEEPSENSE_DATA to it")
    return folder


@dataclass(frozen=True, eq=False)
class Data:
    """A set-valued column, what its items mean, and a hierarchy for the truthful methods where there is one."""

    name: str
    records: list[list[str]]
    taxonomy: Taxonomy
    meaning: Mapping[str, str]
    hierarchy: Hierarchy | None = None
    labels: Mapping[Value, str] | None = None

    def sample(self, size: int) -> Data:
        """Some of the records, drawn by a fixed seed."""
        if len(self.records) <= size:
            return self
        chosen = np.sort(np.random.default_rng(SEED).choice(len(self.records), size, replace=False))
        some = [self.records[i] for i in chosen.tolist()]
        return Data(self.name, some, self.taxonomy, self.meaning, self.hierarchy, self.labels)

    def items(self) -> ItemSets:
        """The column as sets of items."""
        return from_lists(self.records, column=self.name)

    def sets(self, *, semantic: bool) -> ConceptSets:
        """The column as sets of concepts, or of terms compared as strings."""
        if not semantic:
            return map_sets(self.items(), None)
        return map_sets(self.items(), self.taxonomy, table=dict(self.meaning), senses="first")


def groceries() -> Data:
    """9,835 baskets of 169 items. Groups of items get a mark, because some bear the name of an item."""
    folder = data_folder() / "groceries"
    baskets = read_baskets(folder / "groceries_baskets.csv", delimiter=";")
    with (folder / "groceries_hierarchy.csv").open(encoding="utf-8") as file:
        table = list(csv.reader(file, delimiter=";"))[1:]
    rows = [(item, f"{group} (group)", f"{area} (area)", "*") for item, group, area, _ in table]
    links = {(low, high) for row in rows for low, high in pairwise(row)}
    records = [[str(item) for item in items] for items in baskets.sets()]
    return Data("groceries", records, from_edges(sorted(links)), {r[0]: r[0] for r in rows}, Hierarchy.of_rows(rows))


def diagnoses() -> Data:
    """101,766 encounters with up to three ICD-9-CM codes; the hierarchy is category, block, chapter."""
    icd = read_edges(data_folder() / "icd9cm" / "icd9cm_dx_tree.csv", child="code", parent="parent", label="long")
    with (data_folder() / "diabetes130" / "encounters.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    records = [[_undotted(row[f"diag_{i}"]) for i in (1, 2, 3) if row[f"diag_{i}"] != "?"] for row in table]
    codes = sorted({code for record in records for code in record})
    rows: list[tuple[str, ...]] = []
    labels: dict[Value, str] = {}
    for code in codes:
        above = sorted(icd.subsumers(code).tolist(), key=lambda c: int(icd.depth[c]))
        chapter, block, category = (icd.ids[c] for c in (above[1], above[2], above[min(3, len(above) - 1)]))
        row = (code, f"any {category}", f"any {block}", f"any {chapter}", "*")
        labels |= {row[1]: category, row[2]: block, row[3]: chapter, "*": icd.ids[icd.root]}
        rows.append(row)
    return Data("diagnoses", records, icd, {c: c for c in codes}, Hierarchy.of_rows(rows), labels)


def _undotted(code: str) -> str:
    """A code as the tree writes it: three digits filled up with zeros, no dot."""
    whole, _, rest = code.partition(".")
    return (whole if whole[0] in "EV" else whole.zfill(3)) + rest


def query_logs() -> Data:
    """Users with a few interests (categories two below the top) who mostly ask for what lies under them."""
    taxonomy = read_open_directory(data_folder() / "open_directory" / "odp_categories.tsv")
    rng = np.random.default_rng(SEED)
    deep = np.flatnonzero(taxonomy.depth >= 3)
    interests = np.flatnonzero(taxonomy.depth == 3)
    below = {int(c): np.intersect1d(taxonomy.descendants(int(c)), deep) for c in interests}
    records, meaning = [], {}
    for user, queries in enumerate(heavy_tailed(SAMPLE, rng)):
        mine = rng.choice(interests, int(rng.integers(2, 6)), replace=False).tolist()
        record = []
        for number in range(queries):
            among = below[int(rng.choice(mine))] if rng.random() < 0.8 else deep
            concept = int(rng.choice(among))
            term = f"{taxonomy.label(concept)} {user}-{number}"
            meaning[term] = taxonomy.ids[concept]
            record.append(term)
        records.append(record)
    return Data("query logs (drawn)", records, taxonomy, meaning)


def heavy_tailed(users: int, rng: np.random.Generator) -> list[int]:
    """Numbers of queries: log-normal quantiles in random order, so that every draw has the same mean and median.

    >>> sizes = heavy_tailed(1_000, np.random.default_rng(1))
    >>> int(np.median(sizes)), round(float(np.mean(sizes))), min(sizes), max(sizes) > 1_000
    (24, 53, 1, True)
    """
    from scipy.special import ndtri

    steep = np.sqrt(2 * np.log(MEAN / MEDIAN))
    # The last quantile of finitely many stands for a tail that has more: the mean is met by stretching the upper half.
    steps = ndtri((np.arange(users) + 0.5) / users)
    low, high = steep, 2 * steep
    for _ in range(60):
        middle = (low + high) / 2
        short = np.maximum(1, np.rint(MEDIAN * np.exp(middle * steps))).mean() < MEAN
        low, high = (middle, high) if short else (low, middle)
    sizes = np.maximum(1, np.rint(MEDIAN * np.exp(high * steps))).astype(int)
    drawn: list[int] = rng.permutation(sizes).tolist()
    return drawn
