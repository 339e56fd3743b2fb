"""Step one: open a table, look at it, and give each column its role."""

from __future__ import annotations

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import UploadEventArguments

from keepsense.draft.open_questions import Decision
from keepsense.studio.describing.columns import Columns, draw_legend
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.serving.security import readable
from keepsense.studio.session.advice import of_decision
from keepsense.studio.session.remedies import Remedy
from keepsense.studio.session.rows import Rows
from keepsense.studio.widgets.figures import ROWS, About, Told, said, told
from keepsense.studio.widgets.parts import (
    box,
    button,
    complaint,
    head,
    rows,
    words,
)
from keepsense.studio.widgets.room import Room

_SHOWN = 20
_COLUMNS = About(
    "Columns of the table.", "Counted when the table was opened; columns that identify people are not released."
)
_ASKED = About(
    "A guess on which much depends: how well people are hidden, or what is left of the table.",
    "Guesses are ordered by what would go wrong if they were; the first few are asked about.",
)


def draw(room: Room) -> None:
    """Ask for a table, or show the one that is open."""
    if room.desk.session is None:
        head(
            "Open a table", "Choose what you want to publish. Nothing leaves this machine, and the file stays as it is."
        )
        _ways_in(room)
    else:
        _opened(room)


# ---- opening ---------------------------------------------------------------------------------------------------------


def _ways_in(room: Room) -> None:
    busy = box("line").props("role=status")
    with box("columns"):
        _by_path(room)
        _by_upload(room)
        _by_sample(room)
    with box("card"):
        words("h2", "What happens next")
        words(
            "p",
            "The studio guesses what each column is and asks you about the guesses that matter. Then it takes the "
            "meaning of words from a dictionary, makes the table vague enough that nobody can be picked out, and "
            "writes a new file only after checking that every promise holds.",
            "muted prose",
        )

    def show() -> None:
        busy.clear()
        if room.desk.busy:
            with busy:
                ui.spinner(size="1.25rem").classes("accent")
                words("span", f"Looking at {room.desk.busy} …", "muted")

    show()
    room.on_change(show)


def _by_path(room: Room) -> None:
    with box("card"):
        words("h2", "A file on this machine")
        words("p", "It is read where it lies. Your decisions are saved beside it, in keepsense.toml.", "small muted")
        field = ui.input("Path of a table or project file").props("outlined dense clearable").classes("path")
        wrong = complaint(room.desk.problem)

        async def open_it() -> None:
            wrong.text = ""
            await room.work(room.desk.open_path, field.value or "", complain=lambda text: setattr(wrong, "text", text))

        field.on("keydown.enter", open_it)
        with box("line"):
            button("Open", open_it, look="primary")


def _by_upload(room: Room) -> None:
    limit = room.desk.upload_limit
    with box("card"):
        words("h2", "Drop a file here")
        words(
            "p",
            f"CSV, Excel, Parquet and others, up to {readable(limit)}. The copy is deleted when the studio ends.",
            "small muted",
        )
        wrong = complaint()

        async def arrived(event: UploadEventArguments) -> None:
            wrong.text = ""
            place = room.desk.place_for(event.file.name)
            await event.file.save(place)
            await room.work(room.desk.open_copy, place, complain=lambda text: setattr(wrong, "text", text))

        def refused() -> None:
            wrong.text = f"The file is larger than {readable(limit)}. Open it by its path: then nothing is copied."

        ui.upload(
            label="Drop a table, or press +", on_upload=arrived, on_rejected=refused, max_file_size=limit, max_files=1
        ).props("auto-upload flat bordered").classes("drop")


def _by_sample(room: Room) -> None:
    with box("card"):
        words("h2", "The sample")
        words(
            "p",
            "Two thousand people who do not exist, with jobs, hobbies and diagnoses. Good for a first try.",
            "small muted",
        )
        box("spread")

        wrong = complaint()

        async def open_it() -> None:
            wrong.text = ""
            await room.work(room.desk.open_sample, complain=lambda text: setattr(wrong, "text", text))

        with box("line"):
            button("Open the sample", open_it, look="primary")


# ---- the open table --------------------------------------------------------------------------------------------------


def _opened(room: Room) -> None:
    session = room.session
    with head(session.name):
        told(
            Told(f"{session.rows:,} rows", ROWS),
            ", ",
            Told(f"{len(session.columns)} columns", _COLUMNS),
            ". Say what each column tells about people.",
            classes="muted prose",
        )
    if room.desk.copied:
        words(
            "p",
            "This is a copy that is deleted when the studio ends, and so is its project file: download what you want "
            "to keep, under Release.",
            "small muted prose",
        )
    questions = box("stack wide")
    draw_legend()
    lines = Columns(room)
    with box("card"):
        words("h2", "The first rows")
        wrong = complaint()
        table = box("stack")
    with box("line"):
        button("Go on to Meaning", lambda: _go_on(room), look="primary", icon="arrow_forward")
        button("Open another table", lambda: _close(room))

    shown: list[object] = []

    def show() -> None:
        lines.show()
        asked = session.decisions
        if shown != [asked]:
            shown[:] = [asked]
            questions.clear()
            with questions:
                _ask(room, asked)

    show()
    room.on_change(show)

    first: list[Rows] = []
    coloured: list[str] = []

    def show_head() -> None:
        """The rows, under names in the colours of their columns' roles as they are now."""
        colours = [column.colour for column in session.columns]
        if not first or table.is_deleted or coloured == colours:
            return
        coloured[:] = colours
        looks = {column.name: f"role-{column.colour}" for column in session.columns}
        table.clear()
        with table:
            rows(first[0].names, first[0].cells, about="The first rows", looks=looks).classes("preview")

    async def fill() -> None:
        made = await room.work(session.head, _SHOWN, complain=lambda text: setattr(wrong, "text", text))
        first[:] = [] if made is None else [made]
        show_head()

    room.on_change(show_head)
    room.later(fill)


def _go_on(room: Room) -> None:
    room.session.confirm("open")
    room.go("meaning")


async def _close(room: Room) -> None:
    await room.work(room.desk.close)


def _ask(room: Room, asked: tuple[Decision, ...]) -> None:
    """The two or three questions that matter most, each with the click that answers it."""
    if not asked:
        return
    words("h2", "Decide first")
    for decision in asked:
        with box("ask stack"):
            said(decision.question, _ASKED, "prose strong")
            said(f"If that is wrong: {decision.remedy}.", _ASKED, "small muted prose")
            wrong = complaint()
            with box("line tight"):
                for remedy in of_decision(decision).remedies:
                    button(remedy.text, lambda r=remedy, w=wrong: _settle(room, r, w))


def _settle(room: Room, remedy: Remedy, wrong: TextElement) -> None:
    wrong.text = ""
    room.do(room.session.settle, remedy, complain=lambda text: setattr(wrong, "text", text))


PAGES.add("open", Page("Open", "Choose a table, and say what each column tells about people.", "folder_open", draw))
