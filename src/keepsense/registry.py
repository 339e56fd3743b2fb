"""The registry of everything that exists in several variants: methods, distances, privacy models, metrics, formats, ...

An entry stands beside its code and is found by name here; project files, the command line, the guide, reports and the
documentation are derived from it. Other packages add entries through entry points; see `EXTENSION_POINTS`.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, TypeVar

from keepsense.errors import BadInput, InputWarning, InternalError, did_you_mean

T = TypeVar("T")
_MANY = 12

EXTENSION_POINTS: Mapping[str, str] = {
    "keepsense.methods": "methods: a module with a `Method` beside its algorithm",
    "keepsense.distances": "semantic distances: a module with a `Distance`",
    "keepsense.privacy": "privacy models, each with its independent check",
    "keepsense.metrics": "metrics of utility and risk",
    "keepsense.loaders": "loaders of taxonomies",
}
"""Entry point groups of other packages: each names a module to import, or a function to call, that adds entries."""


def plain(name: str) -> str:
    """A name as it is looked up: case, hyphens, underscores and blanks between its words do not matter.

    >>> plain("Rank-Swapping"), plain("rank_swapping"), plain(" rank  swapping")
    ('rank swapping', 'rank swapping', 'rank swapping')
    """
    return " ".join(re.split(r"[\s_-]+", name.strip().lower()))


class Registry(Mapping[str, T], Generic[T]):
    """Entries by name, filled when it is first asked: by the modules of our own packages, then by other packages.

    `what` is what an entry is called in errors, `packages` are the packages whose modules register their entries when
    they are imported, `group` is the entry point group of other packages: what it names is called or, where it is a
    module, imported. An entry whose module has its name is found without importing the other modules. Entries called
    `first` are listed first, the others by package, module and place in it: the order does not depend on what happened
    to be imported before.

    >>> colours: Registry[int] = Registry("colour")
    >>> _ = colours.add("sky blue", 1, aliases=("azure",)), colours.add("red", 2)
    >>> colours["Sky-Blue"], colours["azure"], list(colours)
    (1, 1, ['sky blue', 'red'])
    >>> colours["azur"]
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: no colour is called 'azur'; there are: sky blue, red. Did you mean azure?
    """

    def __init__(
        self, what: str, *, packages: Iterable[str] = (), group: str | None = None, first: Iterable[str] = ()
    ) -> None:
        self._what = what
        self._first = tuple(first)
        self._packages = tuple(packages)
        self._group = group
        self._entries: dict[str, T] = {}
        self._spellings: dict[str, str] = {}
        self._outdated: dict[str, str] = {}
        self._replaced: dict[str, str] = {}
        self._homes: dict[str, str] = {}
        self._filled = False

    def add(
        self,
        name: str,
        entry: T,
        *,
        aliases: Iterable[str] = (),
        outdated: Iterable[str] = (),
        replaces: Iterable[str] = (),
    ) -> T:
        """Enter something under its name; `outdated` names still work, with a warning that says the new one.

        Names that it `replaces` are those of deleted entries, which did something else: the error says to use this one.
        """
        spellings = {plain(spelling) for spelling in (name, *aliases, *outdated)}
        taken = sorted(s for s in spellings if self._spellings.get(s, name) != name)
        home = _module_being_imported()
        if taken or self._homes.get(name, home) != home:  # a module that is loaded again enters its own again
            raise InternalError(f"two entries want to be the {self._what} {(taken or [name])[0]!r}")
        self._entries[name] = entry
        self._homes[name] = home
        self._spellings |= dict.fromkeys(spellings, name)
        self._outdated |= {plain(spelling): name for spelling in outdated}
        self._replaced |= {plain(spelling): name for spelling in replaces}
        return entry

    def name_of(self, spelling: str) -> str:
        """The name of an entry, however it is spelled."""
        key = plain(str(spelling))
        name = self._find(key)
        if name is None and key in self._replaced:
            raise BadInput(f"there is no {self._what} {spelling!r} any more; use {self._replaced[key]!r}")
        if name is None:
            aliases = self._spellings.keys() - self._outdated.keys() - {plain(entry) for entry in self._entries}
            hint = did_you_mean(str(spelling), [*self._entries, *sorted(aliases)])
            # a long list would drown the hint
            listed = "" if hint and len(self._entries) > _MANY else f"; there are: {', '.join(self)}"
            raise BadInput(f"no {self._what} is called {spelling!r}{listed}.{hint}")
        if key in self._outdated:
            warnings.warn(f"the {self._what} {spelling!r} is called {name!r} now", InputWarning, stacklevel=3)
        return name

    def __getitem__(self, spelling: str) -> T:
        return self._entries[self.name_of(spelling)]

    def __contains__(self, spelling: object) -> bool:
        return isinstance(spelling, str) and self._find(plain(spelling)) is not None

    def __iter__(self) -> Iterator[str]:
        self._fill()
        first = {name: i for i, name in enumerate(self._first)}
        rooms = {package: i for i, package in enumerate(self._packages)}

        def place(name: str) -> tuple[int, int, str]:
            room = self._homes[name].rpartition(".")[0]
            return first.get(name, len(first)), rooms.get(room, len(rooms)), self._homes[name] if room in rooms else ""

        return iter(sorted(self._entries, key=place))

    def __len__(self) -> int:
        self._fill()
        return len(self._entries)

    def _find(self, key: str) -> str | None:
        """The name of an entry by a plain spelling: from the module of that name, where there is one, else from all."""
        if key not in self._spellings and not self._filled:
            for module in self._modules():
                if module.endswith(f".{key.replace(' ', '_')}"):
                    import_module(module)
            if key not in self._spellings:
                self._fill()
        return self._spellings.get(key)

    def _modules(self) -> Iterator[str]:
        """Modules that may hold entries; those of compiled loops hold none, and would load the compiler."""
        for package in self._packages:
            for found in iter_modules(import_module(package).__path__, f"{package}."):
                if not found.name.rpartition(".")[2].startswith("_") and not found.name.endswith("_kernels"):
                    yield found.name

    def _fill(self) -> None:
        if self._filled:
            return
        self._filled = True  # before the imports: what is imported may ask
        for module in self._modules():
            import_module(module)
        if self._group is None:
            return
        from importlib.metadata import entry_points  # the command line starts without

        for point in entry_points(group=self._group):
            try:
                loaded = point.load()
                if callable(loaded):
                    loaded()
            except Exception as error:
                raise BadInput(
                    f"the package that adds {point.name!r} to the entry points {self._group!r} cannot be loaded "
                    f"({type(error).__name__}); mend or remove it"
                ) from error


def _module_being_imported() -> str:
    """Name of the module whose own lines, directly or by a decorator, add an entry just now."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))
