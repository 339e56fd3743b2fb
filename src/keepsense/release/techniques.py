"""Methods by the names project files use: each turns a job into recodings, and says what kind of release it makes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from keepsense.errors import BadInput, did_you_mean
from keepsense.progress import Listener
from keepsense.recoding import Recoding
from keepsense.release.job import Job

Sets = Literal["apart", "together", "only"]


def _nothing(job: Job, rules: list[Recoding]) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Technique:
    """A method a project file can name: what it does in a few words, whether its output stays true, and how to run it.

    >>> technique("optimal").truthful
    True
    """

    name: str
    summary: str
    truthful: bool
    run: Callable[[Job, Mapping[str, Any], Listener | None], list[Recoding]]
    whole_values: bool = False
    """Whether every value becomes one other everywhere, so that other tables can be recoded alike."""
    sets: Sets = "apart"
    """What it does with set-valued columns: leaves them to a method for sets, takes them too, or takes only them."""
    kept: Callable[[Job, list[Recoding]], tuple[str, ...]] = _nothing
    """Promises about the mechanism that the recodings keep, which no file can show; checked, not believed."""


_FOUND: dict[str, Technique] = {}
_SPELLINGS: dict[str, str] = {}


def _plain(name: str) -> str:
    """A name as it is looked up: rank-swapping, Rank_Swapping and rank swapping are one."""
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())


def register(
    name: str,
    summary: str,
    *,
    truthful: bool,
    whole_values: bool = False,
    sets: Sets = "apart",
    also: tuple[str, ...] = (),
    kept: Callable[[Job, list[Recoding]], tuple[str, ...]] = _nothing,
) -> Callable[[Any], Any]:
    """Make a method known under a name: a decorator for functions that turn a job into recodings.

    >>> @register("nothing at all", "leave everything as it is", truthful=True)
    ... def nothing(job, parameters, listener):
    ...     return []
    >>> technique("nothing at all").summary
    'leave everything as it is'
    >>> _ = _FOUND.pop("nothing at all"), _SPELLINGS.pop("nothing at all")
    """

    def keep(function: Any) -> Any:
        _FOUND[name] = Technique(name, summary, truthful, function, whole_values, sets, kept)
        _SPELLINGS.update({_plain(spelling): name for spelling in (name, *also)})
        return function

    return keep


def techniques() -> dict[str, Technique]:
    """Every method a project file can name.

    >>> "optimal" in techniques()
    True
    """
    import keepsense.release.microaggregations
    import keepsense.release.perturbations
    import keepsense.release.randomized
    import keepsense.release.sets  # noqa: F401  (they register their methods)

    return dict(_FOUND)


def technique(name: str) -> Technique:
    """A method by name; hyphens, underscores and blanks between its words are the same.

    >>> technique("rank-swapping").name
    'rank swapping'
    >>> technique("optimol")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: no method is called 'optimol'. Did you mean optimal?
    """
    key = _plain(name)
    if key not in _SPELLINGS:
        techniques()
    if key not in _SPELLINGS:
        raise BadInput(
            f"no method is called {name!r}.{did_you_mean(name, list(dict.fromkeys([*_FOUND, *_SPELLINGS])))}"
        )
    return _FOUND[_SPELLINGS[key]]


def call(function: Callable[..., Any], parameters: Mapping[str, Any], *given: Any, **fixed: Any) -> Any:
    """Call a method with a project file's parameters; one it does not take is refused with the nearest as a hint.

    >>> def method(counts, k=2, rng=None):
    ...     return k
    >>> call(method, {"k": 5}, None, rng=1, listener=None)
    5
    >>> call(method, {"kk": 5}, None)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the method takes no parameter 'kk'; it takes k. Did you mean k?
    """
    takes = {n for n, p in inspect.signature(function).parameters.items() if p.kind is not p.VAR_KEYWORD}
    open_to = sorted(takes - set(fixed) - {"counts", "hierarchies", "models", "listener", "rng"})
    for name in parameters:
        if name not in open_to:
            hint = did_you_mean(name, open_to)
            raise BadInput(f"the method takes no parameter {name!r}; it takes {', '.join(open_to) or 'none'}.{hint}")
    _check_types(function, parameters)
    return function(*given, **{k: v for k, v in fixed.items() if k in takes}, **parameters)


def _check_types(function: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
    """Refuse a parameter of another type than the method says it takes."""
    from typing import get_type_hints

    from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

    if not parameters:
        return
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):  # types that are known to checkers only
        hints = {}
    for name, value in parameters.items():
        spelled = hints.get(name)
        if spelled is None:
            continue
        # a list of a TOML file may stand for a tuple, but a text never for a number
        config = ConfigDict(strict=not isinstance(value, list | dict), arbitrary_types_allowed=True)
        try:
            TypeAdapter(spelled, config=config).validate_python(value)
        except ValidationError as error:
            found = error.errors()[0]
            told = str(found.get("ctx", {}).get("expected", ""))
            expected = told or str(found["msg"]).removeprefix("Input should be ")
            raise BadInput(f"the method's parameter {name!r} must be {expected}") from None
        except PydanticUserError:
            continue


def _generalize(module: str, function: str) -> Callable[[Job, Mapping[str, Any], Listener | None], list[Recoding]]:
    def run(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
        from importlib import import_module

        method = getattr(import_module(f"keepsense.methods.generalize.{module}"), function)
        targets = job.project.having("target")
        fixed: dict[str, Any] = {
            "models": job.models,
            "suppression": job.project.release.suppression,
            "listener": listener,
            "rng": job.rng,
            "numbers": [n for n in job.quasi_identifiers if job.column(n).kind == "numeric"],
        }
        takes = inspect.signature(method).parameters
        if "distances" in takes:
            fixed["distances"] = job.distances
        if targets:
            fixed["target"] = targets[0]
        if "target" in takes and takes["target"].default is inspect.Parameter.empty and not targets:
            raise BadInput('this method needs a column with the role "target"')
        overridden = {k: v for k, v in fixed.items() if k not in parameters}
        return [call(method, parameters, job.counts, job.hierarchies, **overridden)]

    return run


for _name, _module, _function, _summary in (
    ("optimal", "optimal", "optimal", "one level a column, the node of least loss, proven"),
    (
        "semantic incognito",
        "semantic_incognito",
        "semantic_incognito",
        "one level a column, least meaning lost, proven",
    ),
    ("incognito", "incognito", "incognito", "one level a column, all safe nodes, built from subsets of columns"),
    ("samarati", "samarati", "samarati", "one level a column, the lowest safe height by binary search"),
    ("anytime", "anytime", "anytime", "one level a column, as good as found within a time limit, for many columns"),
    ("datafly", "datafly", "datafly", "one level a column, raised step by step where values are most diverse"),
    ("semantic datafly", "semantic_datafly", "semantic_datafly", "Datafly, raised where least meaning is lost"),
    ("mu-argus", "mu_argus", "mu_argus", "generalize and suppress by rare combinations of a few columns"),
    ("bottom-up", "bottom_up", "bottom_up", "merge branches from the leaves, for classification"),
    ("top-down", "top_down", "top_down", "specialize branches from the top, for classification"),
    ("mondrian", "mondrian", "mondrian", "divide the records at medians"),
    ("infogain mondrian", "infogain_mondrian", "infogain_mondrian", "divide where a class column is best told"),
    ("lsd mondrian", "lsd_mondrian", "lsd_mondrian", "divide where a numeric target varies least"),
    ("semantic mondrian", "semantic_mondrian", "semantic_mondrian", "divide where least meaning is lost"),
    ("local recoding", "local", "local_recoding", "every class of records at levels of its own"),
    ("cell greedy", "cell_greedy", "cell_greedy", "grow classes of k record by record, each at levels of its own"),
    (
        "local suppression",
        "local_suppression",
        "local_suppression",
        "hide single cells of rare records; no hierarchies",
    ),
):
    _whole = "mondrian" not in _name and _name not in ("local recoding", "cell greedy", "local suppression")
    _also = ("local",) if _name == "local recoding" else ()
    register(_name, _summary, truthful=True, whole_values=_whole, also=_also)(_generalize(_module, _function))
