"""The guide: the catalogue of methods and families, advice, trials of methods, and checks of regulations.

- the catalogue: `keepsense.guide.catalogue` (`entry`, `flowchart`), as text in `catalogue_text`, as HTML in
  `catalogue_page`, drawn by `flowchart_drawing`;
- advice: `keepsense.guide.advice` (`recommend`, `advise`) on `answers`, with `regulation_presets`, tried by `try_out`;
- regulations: `keepsense.guide.regulation_checks`.

How a method works, step by step, is shown by `keepsense.lessons`.
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
