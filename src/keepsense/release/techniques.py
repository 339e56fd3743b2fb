"""Methods by the names project files use: each turns a job into recodings, and says what kind of release it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from keepsense.errors import BadInput, did_you_mean
from keepsense.methods.registry import methods
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


def _known() -> None:
    for found in methods(in_projects=True):
        register(
            found.name,
            found.short,
            truthful=found.truthful,
            whole_values=found.whole_values,
            sets=found.sets,
            also=found.aliases,
            kept=found.kept,
        )(found.run)


_known()
