"""Draw the picture of the README from a run of the demo: `python scripts/draw_demo.py`."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from keepsense.commands.demo_command import publish_demo, run_demo
from keepsense.commands.run_command import render

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "demo.svg"
FONTS = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'
THEME = TerminalTheme(
    (250, 249, 246),
    (38, 50, 56),
    [
        (38, 50, 56),
        (183, 28, 28),
        (0, 121, 107),
        (130, 98, 0),
        (21, 101, 192),
        (106, 27, 154),
        (0, 96, 100),
        (84, 110, 122),
    ],
    [
        (144, 158, 165),
        (211, 47, 47),
        (0, 121, 107),
        (130, 98, 0),
        (25, 118, 210),
        (123, 31, 162),
        (0, 131, 143),
        (38, 50, 56),
    ],
)


def main() -> None:
    """Write the picture: what words mean, and the release that comes of them, in fonts that need no network."""
    console = Console(
        record=True, width=98, highlight=False, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    found = run_demo(10_000, seed=1)
    console.print(found.title(), found.tables()[0], sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        done = publish_demo(10_000, 1, Path(folder))
        render(console, done, Path(folder), brief=True)
    without_network = re.sub(r"@font-face {{.*?}}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    style = without_network.replace("Fira Code, monospace", FONTS).replace(
        "font-family: arial", f"font-family: {FONTS}"
    )
    drawn = console.export_svg(title="make demo", theme=THEME, code_format=style, unique_id="demo")
    TARGET.write_text(re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE), encoding="utf-8")
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
