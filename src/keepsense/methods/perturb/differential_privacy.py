"""Methods with differential privacy: every record is redrawn separately, under a budget that columns and rows share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.method import NUMBERS, WORDS, Method, Relation, Shown, registered
from keepsense.methods.method_call import call
from keepsense.methods.method_flowchart import Edge, Filling, Flowchart, Node
from keepsense.methods.perturb.dp_numbers import release_numbers
from keepsense.methods.perturb.dp_words import release_categories, release_words, response_matrix
from keepsense.methods.perturb.privacy_budget import Budget
from keepsense.methods.records import join
from keepsense.methods.suitability import DIFFERENTIAL_PRIVACY, NO_SETS, NO_WORDS, SHARED_BUDGET, Fit, When, always
from keepsense.methods.task import Task
from keepsense.privacy.dp_promises import DifferentialPrivacy
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, Recoding
from keepsense.secure_random import Random
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy import Taxonomy

Declared = Mapping[str, Any] | None
"""Values or bounds of columns, from public knowledge: never from the table."""


def differential_privacy(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[Nominal | str],
    models: Sequence[Model] = (),
    *,
    epsilon: float | None = None,
    domains: Declared = None,
    bounds: Declared = None,
    rows_per_person: int = 1,
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Redraw every column by the mechanism that suits it, under one budget that the columns share evenly (Dwork 2006).

    A column with `bounds` gets Laplace noise (`noisy_numbers`), one that comes with its meaning the exponential
    mechanism (`semantic_exponential_mechanism`), any other one, given by name, `randomized_response` over its
    `domains`. `epsilon` is what a person gives away in all; where it is not given it is that of the models. People have
    one record each unless `rows_per_person` says how many they can have at most: these share epsilon, too.

    >>> counts = Counts.of({"sex": ["f", "m", "m"]})
    >>> cells = differential_privacy(counts, ["sex"], epsilon=1.0, domains={"sex": ["f", "m"]}, rng=1)
    >>> round(cells.info["epsilon"]["sex"], 9)
    1.0
    """
    known = {"domains": domains, "bounds": bounds, "rows_per_person": rows_per_person}
    budget = Shares(counts, columns, models, epsilon, known)
    numbers = [name for name in budget.names if name in budget.bounds]
    words = [c for c in columns if isinstance(c, Nominal) and c.name not in numbers]
    others = [name for name in budget.names if name not in numbers and name not in {c.name for c in words}]
    parts = []
    if numbers:
        parts.append(budget.numbers(numbers, listener))
    if words:
        parts.append(budget.words(words, rng, listener))
    if others:
        parts.append(budget.categories(others, rng, listener))
    return budget.entered(parts[0] if len(parts) == 1 else join(counts, parts, rng=rng), parts)


def semantic_exponential_mechanism(
    counts: Counts,
    columns: Sequence[Nominal],
    models: Sequence[Model] = (),
    *,
    epsilon: float | None = None,
    domains: Declared = None,
    rows_per_person: int = 1,
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Redraw words by the exponential mechanism, near meanings being likelier (McSherry and Talwar 2007).

    The columns share `epsilon` evenly; see `release_words` for what is drawn from what, and at what cost.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> counts = Counts.of({"pet": ["pug", "lab", "lab", "cat"]})
    >>> column = Nominal.of(counts, "pet", distance("wu-palmer", pets))
    >>> semantic_exponential_mechanism(counts, [column], epsilon=2.0, rng=1).info["epsilon"]
    {'pet': 2.0}
    """
    budget = Shares(counts, columns, models, epsilon, {"domains": domains, "rows_per_person": rows_per_person})
    cells = budget.words(columns, rng, listener)
    return budget.entered(cells, [cells])


def randomized_response(
    counts: Counts,
    columns: Sequence[Nominal | str],
    models: Sequence[Model] = (),
    *,
    epsilon: float | None = None,
    domains: Declared = None,
    rows_per_person: int = 1,
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Keep every value with a certain chance, else draw any other of its domain (Warner 1965; Kairouz et al. 2014).

    The columns share `epsilon` evenly; `response_matrix` gives the chances, which are meant to be published.

    >>> counts = Counts.of({"sex": ["f", "m", "m"]})
    >>> randomized_response(counts, ["sex"], epsilon=1.0, domains={"sex": ["f", "m"]}, rng=1).values
    (('f', 'm'),)
    """
    budget = Shares(counts, columns, models, epsilon, {"domains": domains, "rows_per_person": rows_per_person})
    cells = budget.categories(budget.names, rng, listener)
    return budget.entered(cells, [cells])


def noisy_numbers(
    counts: Counts,
    columns: Sequence[Nominal | str],
    models: Sequence[Model] = (),
    *,
    epsilon: float | None = None,
    bounds: Declared = None,
    rows_per_person: int = 1,
    listener: Listener | None = None,
) -> Cells:
    """Add Laplace noise to numbers, as wide as the bounds that are declared for them (Dwork et al. 2006).

    The columns share `epsilon` evenly; see `release_numbers`.

    >>> counts = Counts.of({"age": [20, 30, 40]})
    >>> all(0 <= age <= 120 for age in noisy_numbers(counts, ["age"], epsilon=1.0, bounds={"age": (0, 120)}).values[0])
    True
    """
    budget = Shares(counts, columns, models, epsilon, {"bounds": bounds, "rows_per_person": rows_per_person})
    cells = budget.numbers(budget.names, listener)
    return budget.entered(cells, [cells])


def epsilon_of(rule: Recoding) -> float:
    """Budget of differential privacy that a recoding used; 0 where it says nothing of one.

    >>> from keepsense.methods.perturb.dp_words import response_matrix
    >>> epsilon_of(response_matrix("sex", ["f", "m"], 1.0))
    1.0
    """
    spent: Any = rule.info.get("epsilon", 0.0)
    return math.fsum(spent.values()) if isinstance(spent, Mapping) else float(spent)


def budget_kept(task: Task, rules: Sequence[Recoding]) -> tuple[str, ...]:
    """Differential privacy holds where what the mechanisms themselves give away adds up to no more than promised.

    >>> from keepsense.methods.perturb.dp_words import response_matrix
    >>> from keepsense.release.example import example_job
    >>> sensitive = {"illness": {"role": "quasi-identifier"}}
    >>> promise = [{"model": "differential privacy", "epsilon": 1.0}]
    >>> job = example_job(columns=sensitive, unlisted="drop", privacy=promise)
    >>> [budget_kept(job, [response_matrix("illness", ["flu", "cold", "asthma"], spent)]) for spent in (1.0, 2.0)]
    [('differential privacy',), ()]
    """
    promised = min((float(m.epsilon) for m in task.models if isinstance(m, DifferentialPrivacy)), default=0.0)
    recoded = {name for rule in rules for name in rule.names}
    spent = math.fsum(epsilon_of(rule) for rule in rules)
    return (DifferentialPrivacy.name,) if recoded == set(task.released) and 0 < spent <= promised * (1 + 1e-9) else ()


def _by_mechanism(
    method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None
) -> list[Recoding]:
    """Numbers by their bounds, words by meaning unless their values are listed, all others by name."""
    bounds, listed = declared(parameters, "bounds"), declared(parameters, "domains")
    numbers = [name for name in task.quasi_identifiers if name in bounds or KINDS[task.column(name).kind].numbers]

    def by_meaning(name: str) -> bool:
        # a mapping file says what the listed words mean
        return task.column(name).taxonomy is not None and (name not in listed or task.column(name).mapping is not None)

    words = [name for name in task.quasi_identifiers if name not in numbers and by_meaning(name)]
    # where bounds are missing the method says how to declare them
    options = {**parameters, "bounds": {**dict.fromkeys(numbers, ()), **bounds}} if numbers else parameters
    return _called(method, task, options, listener, words)


def _by_meaning(method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    """All columns with their meaning."""
    return _called(method, task, parameters, listener, task.quasi_identifiers)


def _by_name(method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    """All columns by name, whatever they mean."""
    return _called(method, task, parameters, listener, ())


def _called(
    method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None, words: Sequence[str]
) -> list[Recoding]:
    known = {what: declared(parameters, what) for what in ("domains", "bounds") if what in parameters}
    options = {**parameters, **known}
    _check_people(task, parameters)
    counts = task.count(task.quasi_identifiers)
    meanings = {name: _meaning(task, counts, name, declared(options, "domains").get(name)) for name in words}
    orders = {name: task.column(name).order for name in task.quasi_identifiers if name not in words}
    listed = {name: order for name, order in orders.items() if order is not None}
    if listed and "domains" in inspect.signature(method.function).parameters:
        options["domains"] = {**listed, **declared(options, "domains")}
    columns = [meanings.get(name, name) for name in task.quasi_identifiers]
    cells: Cells = call(method.function, options, counts, columns, task.models, rng=task.rng, listener=listener)
    return [cells.bound(counts)]


def _check_people(task: Task, parameters: Mapping[str, Any]) -> None:
    """Neighbours differ in a person: refuse people with several rows unless it is declared how many they can have."""
    if task.person is None:
        return
    most = parameters.get("rows_per_person")
    if most is None:
        raise BadInput(
            f"column {task.person!r} tells whose rows are whose, and differential privacy is about people: declare "
            "from public knowledge how many rows a person can have at most, in [method.parameters], such as "
            "rows_per_person = 4; they share epsilon"
        )
    if isinstance(most, int) and 1 <= most < int(task.count([task.person]).weights.max(initial=0)):
        raise BadInput(
            f"column {task.person!r}: somebody has more rows than rows_per_person = {most} provides for, or rows have "
            "no person; leave out rows, or declare more"
        )


def _meaning(task: Task, counts: Counts, name: str, domain: Sequence[Any] | None) -> Nominal:
    """What the words of a column mean, each looked up by itself: the other records must not have a say in it."""
    column = task.column(name)
    if column.kind in NUMBERS or KINDS[column.kind].sets or column.taxonomy is None:
        raise BadInput(f"column {name!r} holds no words; another method has a mechanism for every kind")
    rows = counts.rows_of(name)
    concepts = task.mapping(name, rows, alone=True).concepts
    if column.mapping is not None:
        _check_mapping(task, name, domain)
    if any(value not in concepts for value in rows if value is not None):
        raise BadInput(f"column {name!r} has values in no taxonomy; map them in a mapping file first")
    if None in rows:
        concepts = {**concepts, None: _unknown(task.taxonomy(name), domain)}
    return Nominal.of(counts, name, distance(column.distance, task.taxonomy(name)), concepts=concepts)


def _unknown(taxonomy: Taxonomy, domain: Sequence[Any] | None) -> int:
    """What stands for an empty cell: the most general of what is possible, whatever the other cells hold."""
    possible = [taxonomy.root] if not domain else sorted(taxonomy.code(concept) for concept in domain)
    return min(possible, key=lambda code: int(taxonomy.depth[code]))


def _check_mapping(task: Task, name: str, domain: Sequence[Any] | None) -> None:
    """Refuse a mapping file made from the table's own words: it must say what every possible word means."""
    if not domain:
        raise BadInput(
            f"column {name!r}: a mapping file says what its words mean, so declare in [method.parameters] which are "
            f"possible, such as domains = {{ {name} = [...] }}; a file of the table's own words would tell about them"
        )
    taxonomy, own = task.taxonomy(name), task.own_senses(name)
    mapped = set() if own is None else {own.taxonomy.id(int(code)) for code in own.codes if code >= 0}
    lacking = [concept for concept in domain if taxonomy.id(taxonomy.code(concept)) not in mapped]
    if lacking:
        raise BadInput(
            f"column {name!r}: no line of its mapping file means {str(lacking[0])!r}, which is declared as possible; a "
            "file of the table's own words would tell about them: give every declared value a line"
        )


_EXAMPLE = {
    "age": [23, 27, 31, 34, 38, 45, 47, 52, 58],
    "education": ["primary school", "secondary school", "apprenticeship", "college", "bachelor", "master"],
}
"""Values that the made-up people of lessons can have."""
_GUARANTEE = "epsilon-differential privacy, whatever an attacker knows; budgets of several releases add up."
_INPUTS = ("the columns", "the values that are possible at all, named without looking at the data", "epsilon")
_PUBLIC: tuple[tuple[When, str], ...] = (
    (
        always,
        "Name possible values and bounds from public knowledge in [method.parameters] (domains, bounds), and "
        "release no other column: what is released as it is has no such promise.",
    ),
    SHARED_BUDGET,
)


PRIVACY = registered(
    Method(
        name="differential privacy",
        title="Differential privacy",
        function=differential_privacy,
        runner=_by_mechanism,
        place=7,
        short="a release that hardly depends on any one person",
        intent="Release data so that it hardly matters whether any one person is in it, whatever an attacker knows.",
        use=("the strongest promise is needed", "counts of a few columns are wanted more than records"),
        avoid=("every record must be true", "many columns or few rows: the noise drowns the data"),
        inputs=_INPUTS,
        guarantee=_GUARANTEE,
        cost="One draw a record, or one for every possible combination of values.",
        paper="Dwork et al. 2006; for released tables Rodríguez-García 2017, Sec. 2.5.3.",
        example="Whether you are among the 12 or not, about 12 people of your street are counted.",
        truthful=False,
        unweighed="the columns share the budget evenly; weights chosen by looking at the data would cost budget too",
        promises=(DIFFERENTIAL_PRIVACY,),
        keeps=budget_kept,
        steps=Flowchart(
            (
                Node(
                    "begin",
                    "The table, the columns, the values that are possible at all, and a budget epsilon",
                    "start",
                ),
                Node("budget", "Is enough of the budget left?", "question"),
                Node("bound", "Work out how much one person can change: {sensitivity}"),
                Node("draw", "Draw the release at random: {mechanism}"),
                Node("spend", "Write what was used into the ledger; it adds up over all releases"),
                Node("end", "A release that hardly depends on any single person", "end"),
                Node("refuse", "Nothing is released", "end"),
            ),
            (
                Edge("begin", "budget"),
                Edge("budget", "bound", "yes"),
                Edge("bound", "draw"),
                Edge("draw", "spend"),
                Edge("spend", "end"),
                Edge("budget", "refuse", "no"),
            ),
        ),
        conflicts=(Relation("generalization", "levels chosen by looking at the data would need budget too"),),
        combines=(Relation("microaggregation", "means of k vary less, so less noise is needed"),),
        fit=Fit(
            points=7.5,
            reason="every column is redrawn by the mechanism that suits what it holds",
            unfit=(
                (
                    lambda s: set(s.others) in ({"nominal"}, {"numeric"}),
                    "all columns are of one kind, so one mechanism does",
                ),
                NO_SETS,
            ),
            cautions=_PUBLIC,
        ),
        shown=Shown(settings={"epsilon": 8.0}, example={"bounds": {"age": [18, 68]}}),
    )
)


EXPONENTIAL = registered(
    Method(
        name="semantic exponential mechanism",
        title="Exponential mechanism by meaning",
        function=semantic_exponential_mechanism,
        runner=_by_meaning,
        family="differential privacy",
        place=1,
        short="words, near ones more often",
        intent="Replace every word by another drawn at random, near ones more often, under differential privacy.",
        use=("a column of words is to be released record by record under differential privacy",),
        avoid=("several columns must fit together: each uses budget of its own",),
        inputs=_INPUTS,
        guarantee=_GUARANTEE,
        cost="Distinct values x candidates, then one draw a record.",
        paper="McSherry and Talwar 2007, with a semantic distance as score.",
        example="Influenza becomes bronchitis more often than fracture.",
        truthful=False,
        unweighed="the columns share the budget evenly; weights chosen by looking at the data would cost budget too",
        promises=(DIFFERENTIAL_PRIVACY,),
        keeps=budget_kept,
        fillings={
            "sensitivity": Filling("distance", "the largest distance between two words of the domain"),
            "mechanism": Filling("exponential", "the nearer a word, the likelier"),
        },
        fit=Fit(
            points=8.0,
            reason="words become words of near meaning, under differential privacy",
            unfit=(
                NO_WORDS,
                (
                    lambda s: set(s.others) != {"nominal"},
                    "it is for words; differential privacy takes the mechanism that suits each column",
                ),
                NO_SETS,
            ),
            cautions=_PUBLIC,
        ),
        shown=Shown(kinds=WORDS, settings={"epsilon": 4.0}),
    )
)


RESPONSE = registered(
    Method(
        name="randomized response",
        title="Randomized response",
        function=randomized_response,
        runner=_by_name,
        family="differential privacy",
        place=2,
        short="categories, with published chances",
        intent="Keep every value with a certain chance, and otherwise replace it by any other one.",
        use=("a column of few categories is to be released record by record under differential privacy",),
        avoid=("the column has very many values: hardly any would stay",),
        inputs=_INPUTS,
        guarantee=_GUARANTEE,
        cost="One draw a record.",
        paper="Warner 1965; Kairouz, Oh and Viswanath 2014.",
        example="A yes is released as yes in 3 of 4 cases; analysts correct for that.",
        truthful=False,
        unweighed="the columns share the budget evenly; weights chosen by looking at the data would cost budget too",
        promises=(DIFFERENTIAL_PRIVACY,),
        keeps=budget_kept,
        fillings={
            "sensitivity": Filling("ratio", "how much likelier an answer is for one value than for another"),
            "mechanism": Filling("k-ary", "the value itself most often, all others alike"),
        },
        combines=(Relation("post-randomization", "it is a special case of it, with a promise"),),
        fit=Fit(
            points=5.0,
            reason="categories, with published chances that analysts can correct for",
            unfit=(
                (lambda s: bool({"numeric", "date"} & set(s.others)), "it is for columns of few categories"),
                NO_SETS,
            ),
            cautions=_PUBLIC,
        ),
        shown=Shown(settings={"epsilon": 2.0}, example={"domains": _EXAMPLE}),
    )
)


NOISY_NUMBERS = registered(
    Method(
        name="noisy numbers",
        title="Laplace noise on numbers",
        function=noisy_numbers,
        runner=_by_name,
        family="differential privacy",
        place=4,
        short="numbers record by record, or as noisy means",
        intent="Release numbers with noise wide enough to hide any value within bounds named beforehand.",
        use=("one column of numbers is to be released under differential privacy",),
        avoid=("bounds are wide or epsilon is small: use noisy means of k neighbours (noisy_means)",),
        inputs=("the columns of numbers", "bounds of each, named without looking at the data", "epsilon"),
        guarantee=_GUARANTEE,
        cost="One draw a record.",
        paper="Dwork et al. 2006; with microaggregation Sánchez et al. 2016.",
        example="An age of 43 within 0 to 100 becomes 61; the mean of thousands stays near.",
        truthful=False,
        unweighed="the columns share the budget evenly; weights chosen by looking at the data would cost budget too",
        promises=(DIFFERENTIAL_PRIVACY,),
        keeps=budget_kept,
        fillings={
            "sensitivity": Filling("bounds", "the width of the bounds you name"),
            "mechanism": Filling("Laplace", "the value plus noise as wide as that, cut to the bounds"),
        },
        fit=Fit(
            points=6.0,
            reason="numbers with noise as wide as their declared bounds",
            unfit=((lambda s: set(s.others) != {"numeric"}, "it is for numbers"), NO_SETS),
            cautions=_PUBLIC,
        ),
        shown=Shown(kinds=NUMBERS, settings={"epsilon": 4.0}, example={"bounds": {"age": [18, 68]}}),
    )
)


def neighbours(rows_per_person: int = 1) -> str:
    """Which tables differential privacy makes hard to tell apart, in words.

    >>> neighbours(), neighbours(4)
    ('replace one record', 'replace the records of one person, at most 4')
    """
    return (
        "replace one record"
        if rows_per_person == 1
        else f"replace the records of one person, at most {rows_per_person}"
    )


def declared(parameters: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    """What is publicly known of columns, as it is given; refuses anything but values listed by column.

    >>> declared({"bounds": {"age": [0, 120]}}, "bounds")["age"]
    [0, 120]
    """
    listed = parameters.get(what, {})
    if not isinstance(listed, Mapping) or not all(isinstance(v, list | tuple) for v in listed.values()):
        raise BadInput(f"{what} name columns and list their values, such as {what} = {{ age = [0, 120] }}")
    return listed


class Shares:
    """What a person may give away, shared evenly by columns and rows, and what is publicly known of the columns.

    >>> counts = Counts.of({"sex": ["f", "m"]})
    >>> Shares(counts, ["sex"], [DifferentialPrivacy(1.0)], None, {"rows_per_person": 4}).share
    0.25
    """

    def __init__(
        self,
        counts: Counts,
        columns: Sequence[Nominal | str],
        models: Sequence[Model],
        epsilon: float | None,
        known: Mapping[str, Any],
    ) -> None:
        self.counts = counts
        self.names = [column if isinstance(column, str) else column.name for column in columns]
        promised = [float(model.epsilon) for model in models if isinstance(model, DifferentialPrivacy)]
        whole = (min(promised) if promised else 0.0) if epsilon is None else epsilon
        if isinstance(whole, bool) or not isinstance(whole, int | float):
            raise BadInput("epsilon must be a number above 0")
        if whole <= 0:
            raise BadInput("this method needs epsilon: promise differential privacy, or give it in [method.parameters]")
        self.people = known.get("rows_per_person", 1)
        if isinstance(self.people, bool) or not isinstance(self.people, int) or self.people < 1:
            raise BadInput("rows_per_person must be a whole number from 1: the most rows that one person can have")
        self.domains, self.bounds = (known.get(what) or {} for what in ("domains", "bounds"))
        for what, listed in (("domains", self.domains), ("bounds", self.bounds)):
            unknown = [name for name in declared({what: listed}, what) if name not in self.names]
            if unknown:
                raise BadInput(f"{what} name the column {unknown[0]!r}, which is no quasi-identifier")
        for name, values in self.domains.items():
            if SUPPRESSED in values:
                raise BadInput(f"column {name!r}: {SUPPRESSED!r} marks what is suppressed and can be no declared value")
        self.share = float(whole) / len(self.names) / self.people

    def _part(self, columns: Sequence[Any]) -> Budget:
        # computed from the matrices, the budget can exceed epsilon by rounding
        return Budget(self.share * len(columns) * (1 + 1e-9))

    def numbers(self, names: Sequence[str], listener: Listener | None) -> Cells:
        """Laplace noise within bounds."""
        for name in names:
            limits = self.bounds.get(name, ())
            if len(limits) != 2 or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in limits):
                raise BadInput(
                    f"column {name!r} holds numbers: declare their bounds from public knowledge, never from the table, "
                    f"in [method.parameters], such as bounds = {{ {name} = [0, 120] }}"
                )
        bounds = {name: (self.bounds[name][0], self.bounds[name][1]) for name in names}
        return release_numbers(self.counts, bounds, self.share, self._part(names), listener=listener)

    def words(self, columns: Sequence[Nominal], rng: Random, listener: Listener | None) -> Cells:
        """The exponential mechanism over declared concepts, or over the whole taxonomy."""
        domains = {column.name: self.domains[column.name] for column in columns if column.name in self.domains}
        part = self._part(columns)
        return release_words(self.counts, columns, self.share, part, domains=domains, rng=rng, listener=listener)

    def categories(self, names: Sequence[str], rng: Random, listener: Listener | None) -> Cells:
        """Randomized response over declared values."""
        rules = [response_matrix(name, self._domain(name), self.share) for name in names]
        return release_categories(self.counts, rules, self._part(names), rng=rng, listener=listener)

    def _domain(self, name: str) -> list[Value]:
        """The values a column may have, as they are declared: what the table holds must not have a say in it."""
        listed = self.domains.get(name)
        if not listed:
            raise BadInput(
                f"column {name!r}: differential privacy needs its possible values from public knowledge, never "
                f"from the table; list them in its `order`, or in [method.parameters] as domains = "
                f"{{ {name} = [...] }}"
            )
        values: list[Value] = [None if value == "" else value for value in listed]
        if None in self.counts.values_of(name) and None not in values:
            raise BadInput(
                f"column {name!r} has empty cells, which the declared values do not provide for; add an empty text to "
                "them, whether or not the table has empty cells"
            )
        return values

    def entered(self, cells: Cells, parts: Sequence[Cells]) -> Cells:
        """The release with what it gives away of a person, by column."""
        budgets: list[Any] = [part.info["epsilon"] for part in parts]
        spent = {name: epsilon * self.people for budget in budgets for name, epsilon in budget.items()}
        facts = {"method": DifferentialPrivacy.name, "epsilon": spent, "neighbours": neighbours(self.people)}
        return replace(cells, info={**cells.info, **facts})
