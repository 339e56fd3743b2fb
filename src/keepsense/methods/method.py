"""The registry of methods: a `Method` entry next to each algorithm, with all that other rooms need to know of it.

Project files, the guide, advice, alternatives, try-outs, lessons, the schema and the documentation find a method here
and ask it; nothing else compares a method's name. Other packages add theirs by the entry points `keepsense.methods`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method_flowchart import Filling, Flowchart
from keepsense.methods.suitability import Fit
from keepsense.methods.task import Task
from keepsense.privacy.privacy_model import PRIVACY, Model
from keepsense.progress import Listener
from keepsense.recoding import Cells, Recoding
from keepsense.registry import Registry, plain

Sets = Literal["apart", "together", "only"]
Gaps = Literal["far", "filled", "apart"]
Blocks = Literal["none", "every column", "varying columns", "single columns"]
Classes = Literal["none", "sizes", "all"]
Function = Callable[..., Any]
Runner = Callable[["Method", Task, Mapping[str, Any], Listener | None], list[Recoding]]
"""Calls a method's function with what a task has of what it takes."""
SetRunner = Callable[["Method", Task, str, Counts, Mapping[str, Any], Listener | None], Cells]
"""The same for one set-valued column: the last of the counts, whose others tell the class of each record."""
Promised = Callable[[Task, Sequence[Recoding]], tuple[str, ...]]
LEFT_OUT = "left out"
"""What the information of a recoding calls values that mark rows which a step draws not: a column and its mark."""


NUMBERS = ("numeric", "ordinal", "date")
WORDS = ("nominal",)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a lesson shows a method: on which kinds of column (any, where none is named), and with which settings.

    `example` are settings about the made-up people alone. `why_not` says why there is no lesson.

    >>> Shown(kinds=WORDS, settings={"alpha": 0.3}).example
    {}
    """

    kinds: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    why_not: str = ""


@dataclass(frozen=True)
class Drafted:
    """Why a drafted project begins with a method, and for how many columns of one value a cell.

    >>> 3 in Drafted("one level a column", range(1, 6)).columns
    True
    """

    why: str
    columns: range


@dataclass(frozen=True)
class Relation:
    """Another method or family and why it conflicts or combines with this one.

    >>> Relation("noise", "the release would no longer be true").name
    'noise'
    """

    name: str
    why: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Described:
    """What to know about a method, or a family of methods, before choosing it, for people who do not program.

    `family` is what it belongs to, `place` where it stands among its like. `steps` is its own flowchart; where there is
    none, it is its family's with `fillings` filled in.
    """

    name: str
    title: str
    short: str
    intent: str
    use: tuple[str, ...]
    inputs: tuple[str, ...]
    guarantee: str
    cost: str
    paper: str
    example: str
    truthful: bool
    family: str | None = None
    place: int = 100
    avoid: tuple[str, ...] = ()
    steps: Flowchart | None = None
    fillings: Mapping[str, Filling] = field(default_factory=dict)
    conflicts: tuple[Relation, ...] = ()
    combines: tuple[Relation, ...] = ()

    runs: ClassVar[bool] = False
    """Whether Keepsense does it, and not only describes it."""
    in_projects: ClassVar[bool] = False
    """Whether project files can name it."""
    code: ClassVar[str | None] = None
    """Where its function is, as `module:function`."""
    nine: bool = False
    """Whether it is one of the nine that Ben Fredj et al. (2015) compare."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fillings", MappingProxyType(dict(self.fillings)))

    @property
    def kind(self) -> Literal["technique", "category", "algorithm"]:
        """What the papers call it: a technique, a category of its algorithms, or one of these."""
        if self.family is None:
            return "technique"
        return "algorithm" if self.runs else "category"


@dataclass(frozen=True, eq=False, kw_only=True)
class Method(Described):
    """One way to change data: how to call it, what it needs and keeps, when it fits, and what to know about it.

    `function` takes counts, hierarchies (or columns) and models, everything else by keyword. `runner` (for sets
    `set_runner`) calls it for a project file, which otherwise cannot name it. `outdated` are names that still work,
    with a warning.

    >>> found = method("Local-Recoding")
    >>> found.name, found.truthful, found.time_limit
    ('local recoding', True, 'seconds')
    """

    runs: ClassVar[bool] = True
    function: Function
    runner: Runner | None = None
    set_runner: SetRunner | None = None
    step: Runner | None = None
    """Calls it as a step of a project file, before the method: on any columns where values stay true, else on those
    by which nobody recognizes people."""
    aliases: tuple[str, ...] = ()
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further names, which stand for settings too: what papers call the method with them."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings that the name it was asked for by stands for."""
    outdated: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    """Names of deleted methods in whose place it is to be used."""
    classes: Classes = "none"
    """Which promises about classes of equal records it can keep: those about their sizes, or all of them."""
    climbs: bool = False
    """Whether it relies on promises that hold for some levels to hold for all above them."""
    promises: tuple[str, ...] = ()
    """Promises it can keep besides."""
    falls_short: str = ""
    """Why it cannot keep a promise that others of its family can."""
    keeps: Promised | None = None
    """Promises about the mechanism that recodings keep, which no file can show; checked, not believed."""
    to_the_top: bool = False
    """Whether it may generalize a group to the top in every column: a class like others, and nothing suppressed."""
    whole_values: bool = False
    """Whether every value becomes one other everywhere, so that other tables can be recoded alike."""
    sets: Sets = "apart"
    """What it does with set-valued columns: leaves them to a method for sets, takes them too, or takes only them."""
    gaps: Gaps = "far"
    """What it does with empty cells: they are as far from every value as can be, and so are words that no taxonomy
    knows; or each takes part with a value drawn from its column and is empty again in the end; or they stay as they
    are, and the others are changed among themselves."""
    blocks: Blocks | Callable[[Sequence[Model], Mapping[str, Any]], Blocks] = "none"
    """Whether a large table may be cut into blocks of similar records (`keepsense.methods.blocking`), and which columns
    it gets of each: all, or those that hold several values there, because it refuses others; or whether every column is
    cut by itself, because it is changed by itself. Where that depends on promises and parameters, a function tells."""
    coarser: bool = False
    """Whether it can decide on coarser codes first, where there are more distinct tuples than memory may hold."""
    streaming: bool = False
    """Whether it takes records one by one, as they come."""
    quick: bool = False
    """Whether it takes a fraction of a second on ten thousand tuples, so that previews and trials run it."""
    unweighed: str = ""
    """Why the weights of columns mean nothing to it; a method that takes `importance` says nothing here."""
    reach: int | None = None
    """Distinct records that it takes in about ten minutes, where that is few: more are refused before it begins,
    unless the project says that it may take long."""
    needs: tuple[str, ...] = ()
    """Keyword arguments that must be given besides a promise."""
    time_limit: str | None = None
    """The parameter that says after how many seconds it stops with the best it has found."""
    alternative: int | None = None
    """Its place among the methods that a report tries beside the chosen one."""
    fit: Fit = field(default_factory=Fit)
    shown: Shown = field(default_factory=Shown)
    """How a lesson shows it, or why none does."""
    drafted: Drafted | None = None
    """Why and when a drafted project begins with it."""

    @property
    def code(self) -> str:  # type: ignore[override]
        """Where its function is: `module:function`."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    @property
    def in_projects(self) -> bool:  # type: ignore[override]
        """Whether project files can name it."""
        return self.runner is not None or self.set_runner is not None

    def cut(self, models: Sequence[Model], parameters: Mapping[str, Any]) -> Blocks:
        """Whether and how a large table is cut into blocks, where this is promised and asked for."""
        return self.blocks(models, parameters) if callable(self.blocks) else self.blocks

    @property
    def as_step(self) -> bool:
        """Whether project files can name it as a step."""
        return self.step is not None

    def run_step(self, task: Task, parameters: Mapping[str, Any], listener: Listener | None = None) -> list[Recoding]:
        """Decide what becomes of a task's columns, or which rows are drawn, before another method decides."""
        return self.check_step()(self, task, {**self.settings, **parameters}, listener)

    def check_step(self) -> Runner:
        """What calls it as a step; refuses a method that is none."""
        if self.step is None:
            able = ", ".join(found.name for found in methods() if found.as_step)
            raise BadInput(f"{self.name!r} is no step of a project file; name it in [method], or one of these: {able}")
        return self.step

    def run(self, task: Task, parameters: Mapping[str, Any], listener: Listener | None = None) -> list[Recoding]:
        """Decide what becomes of a task's quasi-identifiers; a method for sets alone has nothing to decide here."""
        if self.sets == "only" and self.set_runner is not None:
            return []
        if self.runner is None:
            raise BadInput(f"project files cannot name {self.name!r}; use it from Python")
        return self.runner(self, task, {**self.settings, **parameters}, listener)

    def run_on_sets(
        self, task: Task, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None = None
    ) -> Cells:
        """Decide what becomes of one set-valued column: the last of the counts, whose others tell the classes."""
        if self.set_runner is None:
            raise BadInput(f"{self.name!r} is no method for sets")
        return self.set_runner(self, task, name, counts, parameters, listener).bound(counts)

    def gives(self, promise: str) -> bool:
        """Whether it can keep a promise, by its name.

        >>> method("mondrian").gives("delta-disclosure"), method("individual ranking").gives("l-diversity")
        (True, False)
        """
        if promise in self.promises:
            return True
        model = PRIVACY[promise].model
        about_classes = model.kept_by_classes and not model.of_sets
        return about_classes and (self.classes == "all" or (self.classes == "sizes" and model.by_size))

    def kept(self, task: Task, rules: Sequence[Recoding]) -> tuple[str, ...]:
        """Promises about the mechanism that the recodings keep."""
        return () if self.keeps is None else self.keeps(task, rules)


_PACKAGES = tuple(f"keepsense.methods.{room}" for room in ("generalize", "perturb", "microaggregate", "sets"))
METHODS: Registry[Method] = Registry("method", packages=_PACKAGES, group="keepsense.methods")


def registered(found: Method) -> Method:
    """Enter a method beside its algorithm; other packages do the same in a module that an entry point names."""
    aliases = (*found.aliases, *found.variants)
    return METHODS.add(found.name, found, aliases=aliases, outdated=found.outdated, replaces=found.replaces)


def method(name: str) -> Method:
    """A method by its name or an alias; hyphens, underscores and blanks between its words are the same.

    What a paper calls a method may stand for settings, too.

    >>> method("local").name
    'local recoding'
    >>> method("SNA-3").name, dict(method("SNA-3").settings)
    ('correlated noise', {'reference': 'root'})
    >>> method("mondrain")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: no method is called 'mondrain'. Did you mean mondrian?
    """
    found = METHODS[name]
    settings = {plain(variant): settings for variant, settings in found.variants.items()}.get(plain(name))
    return replace(found, settings=settings) if settings else found


def methods(*, in_projects: bool = False) -> list[Method]:
    """All methods in the order of their families; with `in_projects` those that project files can name.

    >>> [found.name for found in methods() if found.family == "multidimensional recoding"]
    ['mondrian', 'infogain mondrian', 'lsd mondrian', 'semantic mondrian']
    """
    chosen = [found for found in METHODS.values() if found.in_projects or not in_projects]
    return sorted(chosen, key=lambda found: (found.family or "", found.place, found.name))
