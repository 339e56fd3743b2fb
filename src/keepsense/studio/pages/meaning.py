"""Step two: what the words of each column mean, and what to do about unknown ones."""

from __future__ import annotations

from nicegui import ui
from nicegui.element import Element
from nicegui.events import UploadEventArguments

from keepsense.display import percent
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.session.words import (
    ColumnWords,
    Word,
    choose,
    column_words,
    known_taxonomies,
    taxonomies_in_words,
    use_mapping_file,
    use_taxonomy_file,
    word_columns,
)
from keepsense.studio.widgets.figures import About, counted, term
from keepsense.studio.widgets.parts import bar, box, button, complaint, empty, head, hint, named, pill, words
from keepsense.studio.widgets.room import Room

_NONE = "no taxonomy"
_FIRST = 6
"""Words of a column that are listed before somebody asks for more."""

_KNOWN_ROWS = About(
    "Share of the rows whose word the taxonomy knows.",
    "Rows whose word was found in the taxonomy, by its name, a synonym, an inflected form or your mapping, divided by "
    "all rows that are not empty.",
)
_KNOWN_WORDS = About(
    "Share of the different words that the taxonomy knows, however many rows each has.",
    "Different words that were found in the taxonomy, divided by all different words of the column.",
)
_ITS_ROWS = About("Rows of the table that hold this word.", "Counted over the whole table.")
_LOOKED_UP = (
    "Every different word is looked up by its name, its synonyms and its inflected forms. Where several senses fit, "
    "the likeliest is taken if it is likely enough, given the other words of the column. What you decide comes first."
)
_COLOURS = {
    "in doubt": "yellow",
    "unknown": "red",
    "by its last noun": "yellow",
    "chosen among several": "grey",
    "yours": "green",
}
_MEANT = {
    "in doubt": "The word may mean several things, and nothing tells for sure which; it is taken for what is true "
    "of all of them, if anything is.",
    "unknown": "The taxonomy does not know the word; it stays as it is, and can only be hidden.",
    "by its last noun": "Only the last noun is known, and that is not used unless you say so.",
    "chosen among several": "The likeliest of several senses was taken.",
    "yours": "You said what it means.",
}
_UNLIKELY = (
    "The taxonomy knows one meaning, but the rest of the table makes it unlikely; something vaguer was taken, which is "
    "true either way."
)
"""Of a word with one meaning that is in doubt all the same."""


def draw(room: Room) -> None:
    """Show every column of words with its taxonomy."""
    head(
        "Meaning",
        "A nurse and a surgeon are both health workers: the studio takes that from a taxonomy, column by column. Words "
        "that it does not know, or not for sure, are yours to decide.",
    )
    columns = word_columns(room.session)
    if not columns:
        empty("No column holds words", "Numbers and dates need no dictionary. Go on to the hierarchies.", "menu_book")
    cards = [_ColumnCard(room, name) for name in columns]
    with box("line"):
        button("Go on to Hierarchies", lambda: _go_on(room), look="primary", icon="arrow_forward")

    async def fill() -> None:
        for card in cards:
            await card.fill()

    room.later(fill)
    said = [card.said for card in cards]

    def changed() -> None:
        if word_columns(room.session) != columns:
            room.refresh()
        elif [card.now() for card in cards] != said:
            said[:] = [card.now() for card in cards]
            room.later(fill)

    room.on_change(changed)


def _go_on(room: Room) -> None:
    room.session.confirm("meaning")
    room.go("hierarchies" if "hierarchies" in PAGES else "release")


class _ColumnCard:
    """A column: its taxonomy, how much of it that covers, and the words to look at."""

    def __init__(self, room: Room, name: str) -> None:
        self._room, self._name = room, name
        self._all = False
        self._filled: object = None
        self.said = self.now()
        with named(box("card").props("role=group"), f"Words of {name}"):
            with box("line"):
                words("h2", name, "grow breaks")
                self._taxonomy = ui.select(self._options(), value=self._chosen(), on_change=self._choose)
                named(self._taxonomy.props("dense outlined options-dense").classes("taxonomy"), f"Taxonomy of {name}")
                hint(self._taxonomy, taxonomies_in_words())
                button("Own files", self._own_files, look="quiet", about="A taxonomy or a mapping file of yours.")
            self._wrong = complaint()
            self._place = box("stack wide")
            with self._place, box("line tight").props("role=status"):
                ui.spinner(size="1rem").classes("accent")
                words("span", "Looking the words up …", "small muted")

    def now(self) -> tuple[object, ...]:
        """What the project says about the column's meaning."""
        column = self._room.session.project.columns[self._name]
        return (column.taxonomy, column.domain, column.mapping, column.senses, column.suggestions, column.language)

    def _chosen(self) -> str:
        return self._room.session.project.columns[self._name].taxonomy or _NONE

    def _options(self) -> list[str]:
        return list(dict.fromkeys([self._chosen(), _NONE, *known_taxonomies()]))

    def _choose(self) -> None:
        value = str(self._taxonomy.value)
        if value != self._chosen():
            taxonomy = None if value == _NONE else value
            if not self._room.do(self._room.session.set_taxonomy, self._name, taxonomy, complain=self._complain):
                self._taxonomy.value = self._chosen()

    def _complain(self, text: str) -> None:
        self._wrong.text = text

    async def fill(self) -> None:
        """Look the words up, in a thread, and show what came of it."""
        if self._filled == (self.now(), self._all):
            return
        self._filled = (self.now(), self._all)
        self._wrong.text = ""
        found = await self._room.work(column_words, self._room.session, self._name, complain=self._complain)
        if self._place.is_deleted:
            return
        self._taxonomy.set_options(self._options(), value=self._chosen())
        self._place.clear()
        with self._place:
            if found is not None:
                self._show(found)
            elif self._chosen() == _NONE:
                words("p", "Its words have no meaning here: they can only be kept or hidden.", "small muted")

    def _show(self, found: ColumnWords) -> None:
        with box("line"):
            term(percent(found.rows), *_KNOWN_ROWS, "big")
            words("span", f"of the rows are known to {found.taxonomy}", "muted grow coverage data")
            term(f"{percent(found.values)} of the different words", *_KNOWN_WORDS, "small muted number")
        bar(found.rows, f"{percent(found.rows)} of the rows are covered", "" if found.rows > 0.8 else "doubt")
        with box("line tight"):
            for state, number in found.counts.items():
                term(f"{number:,} {state}", _MEANT[state], _LOOKED_UP, f"pill role-{_COLOURS[state]}")
            if not found.counts:
                words("span", "Every word is known, and has one meaning.", "small good")
        open_words = [word for word in found.words if word.state != "chosen among several"] or list(found.words)
        listed = list(found.words) if self._all else open_words[:_FIRST]
        for word in listed:
            self._word(word)
        if len(listed) < len(found.words):
            button(f"Show all {len(found.words):,}", self._more, look="quiet")

    async def _more(self) -> None:
        self._all = True
        await self.fill()

    def _word(self, word: Word) -> None:
        with box("line word"):
            with box("stack grow"):
                words("span", word.value, "strong breaks data")
                with box("line tight small muted"):
                    term(counted(word.rows, "row"), *_ITS_ROWS, "small muted")
                    if word.chosen:
                        words("span", f"· taken for {word.chosen}", "data")
            unlikely = word.state == "in doubt" and len(word.senses) == 1
            hint(pill(word.state, _COLOURS[word.state]), _UNLIKELY if unlikely else _MEANT[word.state])
            choice = button("Choose a meaning", lambda w=word: self._senses(w), look="outlined")
            named(choice, f"Choose a meaning of {word.value}")

    def _senses(self, word: Word) -> None:
        with ui.dialog() as dialog, ui.card().classes("card senses"):
            words("h2", f"What does {word.value} mean?")
            for sense in word.senses:
                with box("card sense"):
                    with box("line"):
                        words("h3", sense.meaning, "grow breaks data")
                        if sense.taken:
                            hint(pill("taken now", "blue"), "What the word is taken for as long as you say nothing.")
                        use = button("This one", lambda s=sense.label: self._decide(dialog, word, s), look="primary")
                        named(use, f"This one: {sense.meaning}")
                    if sense.synonyms:
                        words("p", f"Also called {', '.join(sense.synonyms)}.", "small muted")
            with box("stack"):
                other = ui.input("Another concept, by its name").props("outlined dense")
                wrong = complaint()
            with box("line"):
                button(
                    "Use that name", lambda: self._decide(dialog, word, str(other.value or ""), wrong), look="outlined"
                )
                button("None of these", lambda: self._decide(dialog, word, None), look="outlined")
                button("Cancel", dialog.close, look="quiet")
        dialog.on("hide", dialog.delete)
        dialog.open()

    async def _decide(self, dialog: ui.dialog, word: Word, sense: str | None, wrong: Element | None = None) -> None:
        said: list[str] = []
        if sense == "" and wrong is not None:
            wrong.text = "Write the name of a concept."  # type: ignore[attr-defined]
            return
        await self._room.work(choose, self._room.session, self._name, word.value, sense, complain=said.append)
        if said and wrong is not None:
            wrong.text = said[0]  # type: ignore[attr-defined]
            return
        if said:
            self._complain(said[0])
        dialog.close()

    def _own_files(self) -> None:
        with ui.dialog() as dialog, ui.card().classes("card senses"):
            words("h2", f"Files of yours for {self._name}")
            for title, about, use in (
                (
                    "A taxonomy",
                    "OBO, OWL, SKOS, a table of edges or paths, and others. It is copied beside the project file.",
                    use_taxonomy_file,
                ),
                (
                    "A mapping",
                    "A CSV file as the command keepsense map writes it: a line for each word, with what it means.",
                    use_mapping_file,
                ),
            ):
                with box("stack"):
                    words("h3", title)
                    words("p", about, "small muted")
                    wrong = complaint()

                    async def arrived(event: UploadEventArguments, use=use, wrong=wrong) -> None:  # type: ignore[no-untyped-def]
                        place = self._room.desk.place_for(event.file.name)
                        await event.file.save(place)
                        said: list[str] = []
                        await self._room.work(use, self._room.session, self._name, place, complain=said.append)
                        wrong.text = said[0] if said else ""
                        if not said:
                            dialog.close()

                    ui.upload(
                        label="Drop it here, or press +",
                        on_upload=arrived,
                        max_file_size=self._room.desk.upload_limit,
                        max_files=1,
                    ).props("auto-upload flat bordered")
            button("Close", dialog.close, look="quiet")
        dialog.on("hide", dialog.delete)
        dialog.open()


PAGES.add(
    "meaning", Page("Meaning", "Say what words mean that the taxonomy does not know for sure.", "translate", draw)
)
