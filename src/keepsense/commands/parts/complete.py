"""What a shell proposes while a command is typed: the names that registries hold, read when the shell asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Proposals = Callable[[str], list[str]]


def _proposing(names: Callable[[], Iterable[str]]) -> Proposals:
    def starting(incomplete: str) -> list[str]:
        # blanks would have to be quoted, and hyphens mean the same
        return [name for name in (name.replace(" ", "-") for name in names()) if name.startswith(incomplete)]

    return starting


def _methods() -> Iterable[str]:
    from keepsense.guide.catalogue import catalogue

    return catalogue()


def _lessons() -> Iterable[str]:
    from keepsense.explain.trace import explainable

    return explainable()


def _distances() -> Iterable[str]:
    from keepsense.semantics import DISTANCES

    return DISTANCES


def _kinds() -> Iterable[str]:
    from keepsense.hierarchies.kinds import KINDS

    return KINDS


def _engines() -> Iterable[str]:
    from keepsense.engines import ENGINES

    return ENGINES


def _loaders() -> Iterable[str]:
    from keepsense.taxonomy.loaders.detect import LOADERS

    return LOADERS


def _taxonomies() -> Iterable[str]:
    from keepsense.taxonomy import library

    return library.names()


methods, lessons, distances, kinds = map(_proposing, (_methods, _lessons, _distances, _kinds))
engines, loaders, taxonomies = map(_proposing, (_engines, _loaders, _taxonomies))
