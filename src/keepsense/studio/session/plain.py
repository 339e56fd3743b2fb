"""Messages of other rooms in the words of the studio: steps and clicks instead of commands and keys of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MAP = r"`keepsense map[^`]*`"
_PLAIN = tuple(
    (re.compile(told), instead)
    for told, instead in (
        (rf"until a mapping file says what they mean: {_MAP}", "until you say what they mean"),
        (
            rf", chosen by '[^']*'; look at the alternatives: {_MAP}",
            "; the likeliest was taken: you can choose another",
        ),
        (rf"say what they mean in the file that {_MAP} writes", "say what they mean"),
        (
            rf'look at them with {_MAP}, then accept them there, or all of them with suggestions = "accept"',
            "look at them, or let the last noun stand for the phrase",
        ),
        (
            r'accept them in a mapping file, or all of them with suggestions = "accept"',
            "look at them, or let the last noun stand for the phrase",
        ),
        (r'where they only are not known, set missing = "unknown" in its section', "say so if they are only not known"),
        (r'set missing = "unknown" for the promise', "say so if they are only not known"),
        (r"name the others in `beside`( of each promise)?", "let each be protected from those who know the others"),
        (r"set spreadsheet_safe = false if", "let them be written as they are if"),
    )
)
_COMMAND = re.compile(r"`keepsense (\w+)[^`]*`")
_INSTEAD = {"map": "Meaning", "init": "Open", "inspect": "Open", "run": "Release", "hierarchy": "Hierarchies"}


def in_the_studio(message: str) -> str:
    """A message with what can be done in the studio in place of a command or a key that does the same.

    >>> in_the_studio("2 values are not known: `keepsense map FILE job --output mapping.csv`")
    '2 values are not known: the step Meaning'
    >>> in_the_studio("2 values with several senses, chosen by 'context'; look at the alternatives: `keepsense map`")
    '2 values with several senses; the likeliest was taken: you can choose another'
    """
    for told, instead in _PLAIN:
        message = told.sub(instead, message)
    return _COMMAND.sub(lambda command: f"the step {_INSTEAD.get(command[1], 'Protect')}", message)


def as_sentence(about: str, message: str) -> str:
    """What is said about something, as a sentence; its name stands before it unless it begins with it.

    >>> as_sentence("ZIP", "ZIP would lose 91.4%"), as_sentence("job", "2 values are not known")
    ('ZIP would lose 91.4%.', 'job: 2 values are not known.')
    """
    text = in_the_studio(message)
    if not about:
        text = f"{text[:1].upper()}{text[1:]}"
    elif not text.startswith(about):
        text = f"{about}: {text}"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def but_for(problem: str, remedies: Iterable[str]) -> str:
    """What is wrong as a sentence, without what can be done about it: for where that is told right below.

    >>> but_for("there are too many ways; use another method", ("use another method",))
    'There are too many ways.'
    """
    for remedy in remedies:
        problem = problem.removesuffix(f"; {remedy}")
    return as_sentence("", problem)
