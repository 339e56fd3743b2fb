"""Which method and why: the catalogue of methods and their families, advice, try-outs.

- the catalogue: `keepsense.guide.catalogue` (`entry`, `flowchart`), drawn by `flowchart_text`, `flowchart_svg` and
  `taxonomy_tree`, told by `describe`;
- advice: `keepsense.guide.advice` (`recommend`, `advise`) on `Answers`, with `presets`, tried by `try_out`.

How a method works, step by step, is shown by `keepsense.explain`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """This package, called: `keepsense.guide(...)` is the front door's function, though a package has its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from importlib import import_module

        return import_module("keepsense.api").guide(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
