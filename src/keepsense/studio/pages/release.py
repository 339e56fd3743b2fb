"""Step six: make the release, and download it with its report and its certificate."""

from __future__ import annotations

from collections.abc import Mapping

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from keepsense.studio.pages import PAGES, Page
from keepsense.studio.serving.exports import Export
from keepsense.studio.session.plain import as_sentence, but_for
from keepsense.studio.session.remedies import Remedy, remedies_for
from keepsense.studio.session.runs import Run
from keepsense.studio.widgets.figures import (
    GROUPS,
    LEFT_OUT,
    RELEASED,
    TIME_LEFT,
    figure,
    metric,
    of_finding,
    promise,
    said,
    term,
)
from keepsense.studio.widgets.following import following
from keepsense.studio.widgets.parts import box, button, complaint, head, hint, words
from keepsense.studio.widgets.room import Room

_STAGES = {
    "read and count": "Reading the table",
    "decide": "Deciding what to change",
    "recode": "Changing the rows",
    "write": "Writing the file",
    "verify": "Reading it back, and checking every promise",
    "measure": "Measuring what is left",
}


def draw(room: Room) -> None:
    """Show what would be released, make it, and show what came of it."""
    head(
        "Release",
        "The file appears only after it was written, read back and checked: if one promise does not hold, nothing is "
        "released.",
    )
    place = box("stack wide")
    shown: list[object] = []

    def show() -> None:
        state = _state(room)
        if shown != [state]:
            shown[:] = [state]
            place.clear()
            with place:
                _draw(room)

    show()
    room.on_change(show)


def _state(room: Room) -> object:
    session = room.session
    made = _last(room)
    return (
        session.text,
        None if made is None else (made.number, made.state),
        None if made is None else made.number in room.desk.exported,
    )


def _last(room: Room) -> Run | None:
    """The last run that was to release something."""
    return next((made for made in reversed(room.session.runs) if not made.rehearsed), None)


def _draw(room: Room) -> None:
    made = _last(room)
    if made is not None and not made.ended:
        _running(room, made)
        return
    current = made is not None and made.text == room.session.text
    if made is not None and current and made.outcome is not None:
        _released(room, made)
    elif made is not None and current:
        _refused(made)
    elif made is not None and made.outcome is not None:
        with box("note stack"):
            words("p", "The project has changed since the last release.", "strong")
            words(
                "p",
                "What lies in the folder is what you released before. Make it again to bring it up to date.",
                "small",
            )
    if made is None or not current or made.outcome is None:
        _before(room)


# ---- before ----------------------------------------------------------------------------------------------------------


def _before(room: Room) -> None:
    session = room.session
    # apart from the button below: drawn anew while somebody presses it, the button would not hear that
    following(room, lambda: _expected(room), lambda: _unmet(room))
    with box("card"):
        words("h2", "What will be promised")
        for sentence, model in _promises(room):
            with box("line tight top-aligned"):
                words("span", "•", "accent").props("aria-hidden=true")
                promise(sentence, model, "grow breaks")
        words("h2", "Where it goes")
        folder = session.folder / session.project.release.folder
        words("p", folder, "mono breaks")
        if room.desk.copied:
            words("p", "This folder goes when the studio ends: download what you want to keep.", "small muted")
        with box("line"):
            start = button("Make the release", lambda: _start(room), look="primary", icon="verified")
            hint(start, "Runs the whole table, writes it, reads it back and verifies it.")


def _expected(room: Room) -> object:
    """The newest preview: what it says about the goal is drawn anew when this changes."""
    live = room.desk.live
    return None if live is None else (id(live.preview), live.waiting, live.problem)


def _unmet(room: Room) -> None:
    """Say that the goal would not be met, as far as the preview can tell."""
    live = room.desk.live
    seen = None if live is None else live.preview
    if seen is None or _waiting(room) or seen.ok:
        return
    with box("stop unmet").props("role=alert"):
        words("p", "As things stand, the goal is not met", "strong")
        words("p", but_for(seen.problem or "a promise would not be kept", seen.remedies), "breaks")
        for remedy in seen.remedies:
            words("p", f"You could {remedy}.", "small")
        words("p", "You can try the full run all the same: it releases nothing that breaks a promise.", "small")


def _waiting(room: Room) -> bool:
    """Whether the preview is older than the project."""
    return room.desk.live is None or room.desk.live.waiting


def _promises(room: Room) -> list[tuple[str, str]]:
    """Every promise in words, with the name of its model."""
    from keepsense.privacy.privacy_model import model

    made = [(str(p["model"]), {k: v for k, v in p.items() if k != "model"}) for p in room.session.project.privacy]
    return [(model(name, **parameters).describe(), name) for name, parameters in made]


def _start(room: Room) -> None:
    if room.session.running is None:
        room.do(lambda: room.session.start(rehearsed=False))
    room.desk.changed()


# ---- meanwhile -------------------------------------------------------------------------------------------------------


def _running(room: Room, made: Run) -> None:
    with box("card"):
        words("h2", "Making the release")
        stage = words("p", "", "muted").props("role=status")
        line = ui.linear_progress(0.0, show_value=False).props("rounded aria-label='Share of the run that is done'")
        left = term("", *TIME_LEFT, "small muted number")
        with box("line"):
            button("Cancel", made.cancel, look="danger")

    def follow() -> None:
        stage.text = "Stopping …" if made.state == "stopping" else f"{_STAGES.get(made.stage, made.stage)} …"
        line.value = made.fraction
        seconds = made.left
        left.text = f"{made.elapsed:.0f} s so far" + ("" if seconds is None else f", about {seconds:.0f} s left")

    follow()
    ui.timer(0.25, follow)


# ---- afterwards ------------------------------------------------------------------------------------------------------


def _refused(made: Run) -> None:
    if made.state == "cancelled":
        with box("note"):
            words("p", made.problem, "strong")
        return
    # there is no way to close this: it goes when the goal is met
    with box("stop unmet").props("role=alert"):
        words("p", "The goal is not met, and nothing was released", "strong")
        words("p", but_for(made.problem, made.remedies), "breaks")
        for remedy in made.remedies:
            words("p", f"You could {remedy}.", "small")


def _released(room: Room, made: Run) -> None:
    outcome = made.outcome
    if outcome is None:
        return
    about = outcome.description
    with box("kept").props("role=status"):
        words("h2", "Verified and released")
        words("p", outcome.file, "mono breaks released-file")
        for sentence in about["in words"]:
            with box("line tight top-aligned"):
                words("span", "✓", "good strong").props("aria-hidden=true")
                promise(sentence, classes="grow breaks")
    with box("columns"):
        figure(f"{about['records']:,}", "records released", *RELEASED)
        figure(f"{about['classes']:,}", "groups", *GROUPS)
        figure(f"{about['suppressed records']:,}", "records left out", *LEFT_OUT)
        if "certainty penalty" in about["utility"]:
            metric("certainty penalty", about["utility"]["certainty penalty"])
    place = box("stack wide")
    listed = room.desk.exported.get(made.number)
    if listed is not None:
        with place:
            _files(listed)
    else:
        with place:
            writing = words("p", "Writing the report and the certificate …", "small muted").props("role=status")

        async def write() -> None:
            await room.work(room.desk.export, made, complain=lambda text: setattr(writing, "text", text))

        room.later(write)
    shown = {(advice.code, advice.where) for advice in (room.desk.live.advice if room.desk.live else ())}
    for finding in made.findings:
        if (finding.code, finding.where) in shown:  # those are below, with what settles them
            continue
        with box("note stack finding"):
            text = as_sentence(finding.where, finding.message)
            said(text, of_finding(finding.code), "small breaks", heading="What to do")
            wrong = complaint()
            with box("line tight"):
                for remedy in remedies_for(room.session.project, finding):
                    if not remedy.notes:  # a release that was made says so for good
                        button(remedy.text, lambda r=remedy, w=wrong: _settle(room, r, w))
    with box("line"):
        button("Make it again", lambda: _start(room))


def _settle(room: Room, remedy: Remedy, wrong: TextElement) -> None:
    if remedy.step:
        room.go_to(remedy.step, remedy.field)
    else:
        room.do(room.session.settle, remedy, complain=lambda text: setattr(wrong, "text", text))


def _files(listed: Mapping[str, Export]) -> None:
    words("h2", "Take it with you")
    with box("tiles exports"):
        for word, export in listed.items():
            # fetched by a link, so that a browser saves or shows it as it does all others
            with box("card tile", "a") as link:
                words("span", export.title, "strong")
                words("span", export.about, "small muted breaks")
                words("span", "Open" if export.shown else "Download", "small accent strong")
            link.props["href"] = export.address
            link.props["data-export"] = word
            if export.shown:
                link.props("target=_blank rel=noopener")
            else:
                link.props("download")


PAGES.add(
    "release", Page("Release", "Make the verified release, and take it away with its certificate.", "verified", draw)
)
