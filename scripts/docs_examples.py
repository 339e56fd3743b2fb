"""An extension of Griffe, which reads docstrings for the reference: examples in them are shown as code.

Our examples stand bare in the text, as doctest reads them; Markdown would take `>>>` for a quotation.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

# installed with the documentation's tools only, so unknown to the type checker elsewhere
griffe: Any = import_module("griffe")
_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*(?:\n\s*\n>>> .*(?:\n(?!\s*$).*)*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """The text with every run of doctest examples inside a fence.

    >>> print(fenced("One.\\n\\n>>> 1 + 1\\n2\\n\\nTwo."))
    One.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    Two.
    """
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```", text)


class Examples(griffe.Extension):  # type: ignore[misc]
    """Fences the examples of every docstring that is read."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Called by Griffe for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
