"""The command `keepsense`: it parses the arguments, calls the library and turns errors into one line and an exit code.

Exit codes: 0 done, 1 goal not met, 2 bad input, 3 a bug in Keepsense; ended by a signal, 128 and its number (130 for
Ctrl-C, 143 when told to end, 129 when the terminal closed).
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, NoReturn

import typer

from keepsense import __version__
from keepsense.commands.command_registry import COMMANDS
from keepsense.commands.options import NamesInHelp
from keepsense.display import visible
from keepsense.errors import VALUES_LISTED, Finding, Infeasible, InputWarning, KeepsenseError, PrivacyWarning

DONE, GOAL_NOT_MET, BAD_INPUT, BUG, INTERRUPTED = 0, 1, 2, 3, 130
TRACEBACK = "KEEPSENSE_TRACEBACK"
_SELDOM = (100_000, 20, 20)
"""How seldom Python looks for circles of objects: indexes of words are many objects, and in none."""
_KNOWN = (KeepsenseError, OSError)
# what typer brings its own copy of, or imports, by version
_ClickException: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    help="Anonymize tables whose columns hold words, and keep what the words mean.",
    epilog="Exit codes: 0 done, 1 goal not met, 2 bad input, 3 a bug in Keepsense.",
    no_args_is_help=True,
    # the pretty ones print local variables, and these may hold people's data
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _command in COMMANDS.items():
    if isinstance(_command, typer.Typer):
        app.add_typer(_command, name=_name)
    else:
        app.command(_name, cls=NamesInHelp)(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"keepsense {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the whole program."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code.

    >>> main(["version"])
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    warnings.showwarning = _show_warning
    for kind in (InputWarning, PrivacyWarning):  # people should see these, whatever the interpreter was told
        warnings.simplefilter("always", kind)
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    with _Interrupts() as interrupts:
        code = _run(given, interrupts)
    gc.set_threshold(*before)  # a program that calls this goes on
    sys.exit(code)


def _run(given: list[str], interrupts: _Interrupts) -> int:
    """Run the command line; what goes wrong becomes one line and a code."""
    try:
        if "--json" not in given:
            app(given, prog_name="keepsense")
            return DONE
        # whoever reads JSON wants usage errors in it, too
        code = app(given, prog_name="keepsense", standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except typer.Abort:
        return _interrupted(interrupts, given)
    except _ClickException as error:
        remedies = ("see what it takes with --help",)
        _complain(_Complaint(error.format_message(), "usage", None, remedies), BAD_INPUT, given)
        return BAD_INPUT
    except SystemExit as end:
        if interrupts.came:
            return _interrupted(interrupts, given)
        return end.code if isinstance(end.code, int) else DONE if end.code is None else BUG
    except BaseException as error:
        if interrupts.came or isinstance(error, KeyboardInterrupt):
            return _interrupted(interrupts, given)
        if not isinstance(error, Exception) or (os.environ.get(TRACEBACK) and not isinstance(error, _KNOWN)):
            raise
        return _explained(error, given)


def _interrupted(interrupts: _Interrupts, given: list[str]) -> int:
    code = 128 + interrupts.came if interrupts.came else INTERRUPTED
    _complain(_Complaint("interrupted; nothing was left half-written", "interrupted"), code, given)
    return code


@dataclass(frozen=True)
class _Complaint:
    """What went wrong, for people and for programs."""

    message: str
    code: str
    column: str | None = None
    remedies: tuple[str, ...] = ()


def _explained(error: Exception, given: list[str]) -> int:
    if isinstance(error, KeepsenseError):
        code = GOAL_NOT_MET if isinstance(error, Infeasible) else BAD_INPUT
        # what a program finds in the exception, people see only if they ask
        message = str(error).replace(VALUES_LISTED, "")
        _complain(_Complaint(message, _code_of(error), error.column, error.remedies), code, given)
        values = getattr(error, "values", ())
        if "--show-values" in given:
            for value in tuple(values)[:20]:
                print(f"  {visible(value)}", file=sys.stderr)
        elif values and given[:1] == ["run"]:
            print("  you could: see them with --show-values (real data)", file=sys.stderr)
        for hint in error.relax:
            print(f"  you could: {visible(hint)}", file=sys.stderr)
    elif isinstance(error, OSError):
        code = BAD_INPUT
        where = f"{Path(str(error.filename)).name}: " if error.filename else ""
        _complain(_Complaint(f"{where}{error.strerror or 'the system refused'}", "system"), code, given)
    elif isinstance(error, MemoryError):
        code = BAD_INPUT
        remedy = "give a smaller table, or a machine with more of it"
        message = f"there is not enough memory for this; {remedy}"
        _complain(_Complaint(message, "memory", None, (remedy,)), code, given)
    else:
        code = BUG
        message = (
            f"this is a bug in Keepsense ({type(error).__name__} at {_place(error.__traceback__)}). Please report it "
            "with the command you ran. This message holds none of your data; the whole traceback may, and is shown "
            f"where {TRACEBACK}=1 is set."
        )
        _complain(_Complaint(message, "bug", None, ("report it with the command you ran",)), code, given)
    return code


def _code_of(error: KeepsenseError) -> str:
    """The code of the first finding that forbids going on, where one does, else that of the error itself."""
    best = getattr(error, "best", None)
    findings = best if isinstance(best, tuple) else getattr(best, "findings", ())
    codes = [finding.code for finding in findings if isinstance(finding, Finding) and finding.is_error]
    return codes[0] if codes else error.code


class _Interrupts:
    """Remembers that somebody pressed Ctrl-C, or told the program to end: everything is cleared away first.

    Libraries turn an interrupt into errors of their own, which are no bugs.
    """

    def __init__(self) -> None:
        self.came = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interrupts:
        # only the main thread may listen; elsewhere an interrupt does not arrive either
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _note(self, number: int, *_: object) -> None:
        self.came = number
        raise KeyboardInterrupt


def _complain(complaint: _Complaint, code: int, given: list[str]) -> None:
    if "--json" in given:
        told = asdict(complaint)
        print(json.dumps({"error": told.pop("message"), "exit": code, **told}, ensure_ascii=False))
    print(f"keepsense: {visible(complaint.message)}", file=sys.stderr)


def _place(traceback: TracebackType | None) -> str:
    """File and line inside Keepsense where an exception was raised: enough for a report, and never data."""
    found = "an unknown place"
    package = Path(__file__).parent
    while traceback is not None:
        file = Path(traceback.tb_frame.f_code.co_filename)
        if file.is_relative_to(package):
            found = f"{file.relative_to(package).as_posix()}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"keepsense: warning: {visible(message)}", file=sys.stderr)
