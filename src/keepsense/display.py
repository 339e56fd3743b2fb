"""How results print: one line in a shell, a small table in a notebook, and never a value of a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_STYLE = "border-collapse:collapse;font-size:0.9em"
_CELL = "text-align:left;padding:0.2em 0.8em 0.2em 0;border-bottom:1px solid rgba(128,128,128,0.3)"


@dataclass(frozen=True)
class Summary:
    """What a result says of itself: a sentence, a table of figures, and remarks.

    >>> Summary("2 columns", ("column", "lost"), (("age", "3%"), ("job", "10%"))).rows[1]
    ('job', '10%')
    """

    sentence: str
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    remarks: Sequence[str] = ()

    def html(self) -> str:
        """The same as HTML without script or style sheet; everything is escaped.

        >>> Summary("a < b").html()
        '<div><p><b>a &lt; b</b></p></div>'
        """
        parts = [f"<p><b>{escape(self.sentence)}</b></p>"]
        if self.rows:
            parts.append(f'<table style="{_STYLE}"><thead>{_row("th", self.headers)}</thead>')
            parts.append(f"<tbody>{''.join(_row('td', row) for row in self.rows)}</tbody></table>")
        parts += [f"<p>{escape(remark)}</p>" for remark in self.remarks]
        return f"<div>{''.join(parts)}</div>"


def _row(tag: str, cells: Sequence[str]) -> str:
    spelled = (f'<{tag} style="{_CELL}">{escape(cell)}</{tag}>' for cell in cells)
    return f"<tr>{''.join(spelled)}</tr>"


class Shown:
    """A result with a short `repr` and a table for notebooks, both made of its `summary`.

    >>> class Answer(Shown):
    ...     def summary(self):
    ...         return Summary("42 of 100 records")
    >>> Answer()
    <Answer: 42 of 100 records>
    """

    def summary(self) -> Summary:
        """What the result says of itself."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary().sentence}>"

    def _repr_html_(self) -> str:
        return self.summary().html()


def percent(share: float | None) -> str:
    """A share in words, empty where there is none.

    >>> percent(0.123), percent(None)
    ('12.3%', '')
    """
    return "" if share is None else f"{share:.1%}"


def visible(text: object) -> str:
    r"""Text for a terminal: control characters of the data are spelled out, so that none of them reaches it.

    >>> visible("nurse\x1b[2J\u202e")
    'nurse\\x1b[2J\\u202e'
    """
    spelled = str(text)
    if spelled.isprintable():
        return spelled
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode("ascii") for c in spelled)
