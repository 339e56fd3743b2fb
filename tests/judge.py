"""A slow, obvious judge of promises about released tables: plain Python, exact fractions, nothing of the package.

Rows are dictionaries, a missing cell is None. A promise is the plain data that a release's description tells. Every
definition is written down as it stands in its paper, comparing every two records; nothing is clever.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, exp, factorial, prod

Row = dict
Promise = dict


class Case:
    """What a promise is judged on: released rows, and what it may be compared with."""

    def __init__(self, released, quasi_identifiers, *, wild=(), original=None, population=None, evidence=None):
        self.released = list(released)
        self.quasi_identifiers = list(quasi_identifiers)
        self.wild = set(wild)
        self.original = self.released if original is None else list(original)
        self.population = population
        self.evidence = evidence or {}

    def combination(self, row):
        return tuple(row[name] for name in self.quasi_identifiers)

    def alike(self, one, other):
        """Whether two combinations cannot be told apart."""
        return all(
            a == b or (name in self.wild and (a is None or b is None))
            for name, a, b in zip(self.quasi_identifiers, one, other, strict=True)
        )

    def fitting(self, combination, rows):
        return [row for row in rows if self.alike(combination, self.combination(row))]

    def beside(self, columns):
        """The same where some further columns are known, too."""
        known = [*self.quasi_identifiers, *(name for name in columns if name not in self.quasi_identifiers)]
        more = {"population": self.population, "evidence": self.evidence}
        return Case(self.released, known, wild=self.wild, original=self.original, **more)

    def classes(self):
        """The records that fit each combination that is released."""
        return [
            self.fitting(combination, self.released)
            for combination in dict.fromkeys(map(self.combination, self.released))
        ]


def exact(number) -> Fraction:
    """A number as it is written."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def holds(promise: Promise, case: Case) -> bool:
    """Whether a released table keeps a promise."""
    return JUDGES[promise["model"]](promise, case)


def k_anonymity(promise, case):
    return all(len(members) >= promise["k"] for members in case.classes())


def people(promise, case):
    return all(len({row[promise["person"]] for row in members}) >= promise["k"] for members in case.classes())


def maximum_risk(promise, case):
    return all(Fraction(1, len(members)) <= exact(promise["threshold"]) for members in case.classes())


def average_risk(promise, case):
    risks = [Fraction(1, len(case.fitting(case.combination(row), case.released))) for row in case.released]
    return sum(risks) / len(risks) <= exact(promise["threshold"])


def strict_average_risk(promise, case):
    return k_anonymity(promise, case) and average_risk(promise, case)


def estimated_k_map(promise, case):
    """As a test at a level of significance: so many records are too many for a class of k people, or are k."""
    mean = promise["k"] * promise["fraction"]
    truncated = promise.get("estimator") == "zero-truncated poisson"

    def chance(records):
        return 0 if truncated and not records else mean**records * exp(-mean) / factorial(records)

    whole = 1 - exp(-mean) if truncated else 1
    for members in case.classes():
        fewer = sum(chance(records) for records in range(len(members)))
        if 1 - fewer / whole > promise.get("significance", 0.05) and len(members) < promise["k"]:
            return False
    return True


def population_uniqueness(promise, case):
    """By the estimate of Zayatz, in fractions: of the uniques those that are drawn from classes of one person."""
    sizes = Counter(len(members) for members in case.classes())
    records = len(case.released)
    if case.wild:
        records = sum(size * number for size, number in sizes.items())
    people = max(records, round(records / promise["fraction"]))

    def once(size):
        return Fraction(size * comb(people - size, records - 1), comb(people, records))

    drawn = sum((number * once(size) for size, number in sizes.items()), Fraction(0))
    share = Fraction(sizes[1], records)
    share = share * sizes[1] * once(1) / drawn if sizes[1] and people > records else share
    return share <= exact(promise["threshold"])


def l_diversity(promise, case):
    classes = case.beside(promise.get("beside", ())).classes()
    return all(DIVERSE[promise.get("form", "distinct")](promise, _values(promise, members)) for members in classes)


def _values(promise, members):
    """How often each sensitive value occurs, the commonest first; cells that nobody knows are the commonest."""
    counts = Counter(row[promise["column"]] for row in members)
    unknown = 0
    if promise.get("missing", "value") == "unknown":
        for value in list(counts):
            if len(counts) > 1 and (value is None or not str(value).strip()):
                unknown += counts.pop(value)
    numbers = sorted(counts.values(), reverse=True)
    numbers[0] += unknown
    return numbers


def _distinct(promise, numbers):
    return len(numbers) >= promise["l"]


def _entropy(promise, numbers):
    """entropy >= log l, both to the power of e and times n: no logarithm is rounded."""
    n = sum(numbers)
    return Fraction(n**n, prod(x**x for x in numbers)) >= exact(promise["l"]) ** n


def _recursive(promise, numbers):
    return numbers[0] < exact(promise["c"]) * sum(numbers[promise["l"] - 1 :])


DIVERSE = {"distinct": _distinct, "entropy": _entropy, "recursive": _recursive}


def t_closeness(promise, case):
    column = promise["column"]
    whole = Counter(row[column] for row in case.original)
    distance = GROUNDS[promise.get("ground", "equal")](sorted(whole, key=str), case.evidence.get(column, {}))
    limit = exact(promise["t"])
    return all(
        earth_movers_distance(Counter(row[column] for row in members), whole, distance) <= limit
        for members in case.beside(promise.get("beside", ())).classes()
    )


def earth_movers_distance(here, whole, distance):
    """Least work to turn one histogram into another: cheapest augmenting paths, as whole numbers."""
    supply = {value: n * sum(whole.values()) for value, n in here.items()}
    demand = {value: n * sum(here.values()) for value, n in whole.items()}
    unit = sum(here.values()) * sum(whole.values())
    shipped = Counter()
    while any(supply.values()):
        # Bellman and Ford, from every value with something left
        cost = {("give", v): Fraction(0) for v, n in supply.items() if n}
        before = {}
        changed = True
        while changed:
            changed = False
            for a in supply:
                for b in demand:
                    ways = [(("give", a), ("take", b), distance(a, b))]
                    if shipped[a, b]:
                        ways.append((("take", b), ("give", a), -distance(a, b)))
                    for start, end, price in ways:
                        if start in cost and (end not in cost or cost[start] + price < cost[end]):
                            cost[end], before[end], changed = cost[start] + price, start, True
        end = min((node for node in cost if node[0] == "take" and demand[node[1]]), key=cost.get)
        path = [end]
        while path[-1] in before:
            path.append(before[path[-1]])
        links = list(zip(path[1:], path[:-1], strict=True))
        back = [shipped[to[1], at[1]] for at, to in links if at[0] == "take"]
        amount = min([supply[path[-1][1]], demand[end[1]], *back])
        supply[path[-1][1]] -= amount
        demand[end[1]] -= amount
        for at, to in links:
            if at[0] == "give":
                shipped[at[1], to[1]] += amount
            else:
                shipped[to[1], at[1]] -= amount
    return sum((n * distance(a, b) for (a, b), n in shipped.items()), Fraction(0)) / unit


def _equal(values, evidence):
    return lambda a, b: Fraction(a != b)


def _ordered(values, evidence):
    numbers = all(_is_number(value) for value in values)
    order = evidence.get("order") or sorted(values, key=float if numbers else None)
    place = {value: i for i, value in enumerate(order)}
    return lambda a, b: Fraction(abs(place[a] - place[b]), max(1, len(order) - 1))


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _numeric(values, evidence):
    at = {value: Fraction(str(value)) for value in values}
    length = max(at.values()) - min(at.values()) or 1
    return lambda a, b: abs(at[a] - at[b]) / length


def _hierarchical(values, evidence):
    chains = {row[0]: row for row in evidence["rows"]}
    height = max(1, len(next(iter(chains.values()))) - 1)
    return lambda a, b: Fraction(sum(x != y for x, y in zip(chains[a], chains[b], strict=True)), height)


def _links(values, evidence):
    chains = {value: set(chain) for value, chain in evidence["chains"].items()}
    return lambda a, b: Fraction(len(chains[a] ^ chains[b]), 2 * max(1, evidence["height"]))


def _semantic(values, evidence):
    place = {value: i for i, value in enumerate(evidence["values"])}
    return lambda a, b: exact(float(evidence["matrix"][place[a]][place[b]]))


GROUNDS = {
    "equal": _equal,
    "ordered": _ordered,
    "numeric": _numeric,
    "hierarchical": _hierarchical,
    "links": _links,
    "semantic": _semantic,
}


def _shares(promise, case):
    """Of every class and of the whole table, how often each value occurs."""
    column = promise["column"]
    whole = Counter(row[column] for row in case.original)
    classes = case.beside(promise.get("beside", ())).classes()
    return whole, [Counter(row[column] for row in members) for members in classes]


def _over_concepts(promise, case, whole, classes):
    """The same where every value counts for all concepts above it; and how many values each name stands for."""
    chains = case.evidence.get(promise["column"], {}).get("chains", {})

    known = [value for value in whole if value is not None]

    def names(value):
        """A value, and what is above it; not what is above every value, which nobody learns by."""
        above = set(chains.get(value, ())) if value is not None else ()
        told = [concept for concept in above if any(concept not in chains.get(other, ()) for other in known)]
        return [(value, ""), *(("", concept) for concept in told)]

    def added(counts):
        result = Counter()
        for value, number in counts.items():
            for name in names(value):
                result[name] += number
        return result

    return added(whole), [added(here) for here in classes], Counter(name for value in whole for name in names(value))


def concept_likeness(promise, case):
    """As the enhanced form, for the share of every value and of every concept above values."""
    whole, classes = _shares(promise, case)
    total, sizes = whole.total(), [here.total() for here in classes]
    whole, classes, _ = _over_concepts(promise, case, whole, classes)
    for here, size in zip(classes, sizes, strict=True):
        for name, number in here.items():
            p, q = Fraction(whole[name], total), Fraction(number, size)
            growth = (q - p) / p
            if growth > exact(promise["beta"]) or exp(growth) > 1 / p * (1 + Fraction(1, 10**12)):
                return False
    return True


def concept_disclosure(promise, case):
    """q / p below 2^delta and q below 1 for all; q / p above 2^-delta for concepts of several values."""
    whole, classes = _shares(promise, case)
    total, sizes = whole.total(), [here.total() for here in classes]
    whole, classes, values = _over_concepts(promise, case, whole, classes)
    delta = exact(promise["delta"])
    for here, size in zip(classes, sizes, strict=True):
        for name, number in whole.items():
            power = Fraction(here[name] * total, size * number) ** delta.denominator
            if power >= 2**delta.numerator or (here[name] == size and number < total):
                return False
            if values[name] > 1 and number < total and power <= Fraction(1, 2**delta.numerator):
                return False
    return True


def beta_likeness(promise, case):
    """(q - p) / p is at most beta; in the enhanced form at most -ln p, too: e to the power of it at most 1 / p."""
    if promise.get("form") == "concepts":
        return concept_likeness(promise, case)
    whole, classes = _shares(promise, case)
    for here in classes:
        for value, number in here.items():
            p, q = Fraction(whole[value], whole.total()), Fraction(number, here.total())
            growth = (q - p) / p
            if growth > exact(promise["beta"]):
                return False
            if promise.get("form", "enhanced") == "enhanced" and exp(growth) > 1 / p * (1 + Fraction(1, 10**12)):
                return False
    return True


def delta_disclosure(promise, case):
    """|log2(q / p)| < delta for every value of the table; both sides to the power that makes delta whole."""
    if promise.get("form") == "concepts":
        return concept_disclosure(promise, case)
    whole, classes = _shares(promise, case)
    delta = exact(promise["delta"])
    for here in classes:
        for value, number in whole.items():
            ratio = Fraction(here[value] * whole.total(), here.total() * number)
            power = ratio**delta.denominator
            if not Fraction(1, 2**delta.numerator) < power < 2**delta.numerator:
                return False
    return True


def alpha_k(promise, case):
    if not k_anonymity(promise, case):
        return False
    _, classes = _shares(promise, case)
    bounded = promise.get("values", ())
    return all(
        Fraction(number, here.total()) <= exact(promise["alpha"])
        for here in classes
        for value, number in here.items()
        if not bounded or value in bounded
    )


def k_map(promise, case):
    return all(
        len(case.fitting(combination, case.population)) >= promise["k"]
        for combination in map(case.combination, case.released)
    )


def delta_presence(promise, case):
    """For everybody in the population, and every released combination: records that fit over people who fit."""
    for combination in dict.fromkeys(map(case.combination, [*case.released, *case.population])):
        records = len(case.fitting(combination, case.released))
        fitting = len(case.fitting(combination, case.population))
        low, high = exact(promise["lower"]) * fitting, exact(promise["upper"]) * fitting
        if not fitting or not low <= records <= high:
            return False
    return True


def km_anonymity(promise, case):
    """Every combination of up to m items that occurs is held by at least k records."""
    sets = [set(row[promise["column"]]) - {"*"} for row in case.released]
    for size in range(1, promise["m"] + 1):
        held = Counter(items for cell in sets for items in combinations(sorted(cell), size))
        if any(number < promise["k"] for number in held.values()):
            return False
    return True


def pieces_of_sets(promise, case):
    """Each record names one cluster and holds only its items; then each cluster is judged by itself."""
    k, m = promise["k"], promise["m"]
    clusters = {}
    for row in case.released:
        held = set(row[promise["column"]])
        marks = [item for item in held if item[0] == "#" and " " not in item]
        if len(marks) != 1:
            return False
        number = marks[0][1:]
        parts = [item.split(" ", 1) for item in held - set(marks)]
        if not all(len(part) == 2 and part[0].split(".")[0] in (number, number + "+") for part in parts):
            return False
        if any(part[0] == number for part in parts):
            return False
        clusters.setdefault(number, []).append(parts)
    return all(_cluster_keeps(number, records, k, m) for number, records in clusters.items())


def _cluster_keeps(number, records, k, m):
    """Loose items stand beside everybody; what occurs together in a piece does so k times; nobody need be empty."""
    if len(records) < k:
        return False
    loose = {name for parts in records for place, name in parts if place == number + "+"}
    if any([number + "+", name] not in parts for parts in records for name in loose):
        return False
    places = {place for parts in records for place, _ in parts if place != number + "+"}
    told = 0
    for place in places:
        held = [{name for where, name in parts if where == place} for parts in records]
        told += sum(1 for names in held if names)
        for names in held:
            for size in range(1, m + 1):
                for known in combinations(names, size):
                    if sum(1 for others in held if others >= set(known)) < k:
                        return False
    return bool(loose) or not places or told >= len(records) + k * (min(m, len(places)) - 1)


JUDGES = {
    "k-anonymity": k_anonymity,
    "probabilistic k-anonymity": k_anonymity,
    "(X,Y)-anonymity": people,
    "maximum risk": maximum_risk,
    "average risk": average_risk,
    "strict-average risk": strict_average_risk,
    "estimated k-map": estimated_k_map,
    "population uniqueness": population_uniqueness,
    "l-diversity": l_diversity,
    "t-closeness": t_closeness,
    "beta-likeness": beta_likeness,
    "delta-disclosure": delta_disclosure,
    "(alpha,k)-anonymity": alpha_k,
    "k-map": k_map,
    "delta-presence": delta_presence,
    "k^m-anonymity": km_anonymity,
    "k^m-anonymity of pieces": pieces_of_sets,
}
"""Promises that a released file shows."""
