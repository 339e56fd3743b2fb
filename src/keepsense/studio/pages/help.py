"""The help page: the steps, the words, and what the studio does with your data."""

from __future__ import annotations

from keepsense.project.roles import ROLES
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.session.steps import STEPS
from keepsense.studio.widgets.parts import box, head, pill, words
from keepsense.studio.widgets.room import Room

GLOSSARY = {
    "quasi-identifier": "a column that others may know about a person, such as age or place; together such columns can "
    "point at one person",
    "equivalence class": "the records that look alike in all quasi-identifiers of the release; nobody inside can be "
    "told from the others",
    "k": "how many records, or people, every class has at least",
    "promise": "what must hold for every released record; if one does not, nothing is released",
    "hierarchy": "how the values of a column become vaguer: nurse, health worker, person",
    "taxonomy": "a dictionary of concepts that says what is a kind of what; WordNet is one",
    "loss": "the share of a column's detail that is gone: 0% is as it was, 100% is hidden",
    "suppression": "leaving out records that would stand alone whatever is done",
    "records at risk": "records that share their quasi-identifiers with fewer others than was promised",
}
"""Words of the field, each in a sentence."""


def draw(room: Room) -> None:
    """Explain the steps, the roles and the words."""
    head("Help", "From a file to a release that nobody can be picked out of, in six steps. Every step can be undone.")
    with box("card"):
        words("h2", "The steps")
        for number, name in enumerate((name for name in STEPS if name in PAGES), start=1):
            with box("stack"):
                words("h3", f"{number}. {PAGES[name].title}")
                words("p", PAGES[name].about, "muted prose")
    with box("card"):
        words("h2", "What a column can be")
        for name, role in ROLES.items():
            with box("line top-aligned"):
                pill(name, role.colour)
                words("p", f"{role.about[:1].upper()}{role.about[1:]}.", "grow")
    with box("card"):
        words("h2", "Words")
        for word, meaning in GLOSSARY.items():
            with box("stack"):
                words("h3", word)
                words("p", f"{meaning[:1].upper()}{meaning[1:]}.", "muted prose")
    with box("card"):
        words("h2", "Your data stay here")
        words(
            "p",
            "The studio answers only this browser, on this machine, and asks nothing of the network. Every decision is "
            "saved at once, so you can close the tab and come back; the same project file runs with `keepsense run`. "
            "Press Ctrl-C where it was started to end it: uploaded copies are deleted then.",
            "prose",
        )


PAGES.add("help", Page("Help", "What the steps are for, and what the words mean.", "help_outline", draw))
