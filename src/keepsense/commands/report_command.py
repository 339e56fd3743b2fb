"""`keepsense report`: write the reports of an existing release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, FINDINGS, OUTPUTS
from keepsense.commands.options import EngineName
from keepsense.commands.run_command import ProjectFile
from keepsense.commands.terminal import Json, Quiet, progress, safe, show

if TYPE_CHECKING:
    from rich.console import Console


def report_release(
    project: ProjectFile = Path("keepsense.toml"),
    public: Annotated[
        bool, typer.Option("--public", help="Only the public report: what the released file itself shows.")
    ] = False,
    internal: Annotated[
        bool, typer.Option("--internal", help="Only the internal report, with the original distributions.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the reports, or a file ending in .html for one of them; by default report.html beside the "
            "release and the internal one in private/.",
        ),
    ] = None,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the reports of an existing release: it is read back and verified again, not made again."""
    from keepsense.errors import BadInput
    from keepsense.release.reopen import reopen
    from keepsense.report.report import Audience, write_report

    audiences: list[Audience] = (
        ["public"] if public and not internal else ["internal"] if internal and not public else []
    )
    audiences = audiences or ["public", "internal"]
    if output is not None and output.suffix.lower() in (".html", ".htm") and len(audiences) > 1:
        raise BadInput("one file cannot hold both reports: add --public or --internal, or name a folder")
    with progress(quiet=quiet or as_json, what="report") as listener:
        release = reopen(project, recoding="internal" in audiences, listener=listener, engine=engine)
        written = {}
        for audience in audiences:
            target = _target(release.file.parent, output, audience)
            target.parent.mkdir(parents=True, exist_ok=True)
            written[audience] = str(write_report(release, target, audience))
    result: dict[str, Any] = {
        "file": str(release.file),
        "verified": release.verification.ok,
        "reports": written,
        "findings": [{"code": f.code, "where": f.where, "message": f.message} for f in release.findings],
    }

    def render(console: Console) -> None:
        console.print(f"{safe(release.file)}: [bold green]verified[/] again", soft_wrap=True)
        for audience, path in written.items():
            remark = "may be published" if audience == "public" else "keep it inside"
            console.print(f"  {audience} report: [bold]{safe(path)}[/] ({remark})", soft_wrap=True)
        for finding in release.findings:
            console.print(f"[yellow]{finding.code}[/] {safe(f'{finding.where}: {finding.message}')}", soft_wrap=True)

    show(result, render, as_json=as_json, quiet=quiet)


def _target(folder: Path, output: Path | None, audience: str) -> Path:
    if output is None:
        return folder / "report.html" if audience == "public" else folder / "private" / "report.html"
    if output.suffix.lower() in (".html", ".htm"):
        return output
    return output / ("report.html" if audience == "public" else "internal-report.html")


COMMANDS.add("report", report_release)
OUTPUTS.add(
    "report",
    {
        "file": ("the release", "text"),
        "verified": ("whether it keeps its promise", "truth"),
        "reports": ("the pages by audience", {"*": "text"}),
        "findings": FINDINGS,
    },
)
