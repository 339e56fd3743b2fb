"""Photograph the report of the README's release: `python scripts/draw_report.py`; needs Playwright and Chromium."""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "images" / "report.png"


def main() -> None:
    """Run the first Python example of the README, write its report, and photograph the top of it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    if example is None:
        raise SystemExit("README.md has no Python example")
    names: dict[str, Any] = {}
    exec(example[1], names)
    with tempfile.TemporaryDirectory() as folder:
        page = names["release"].report(Path(folder) / "report.html")
        # installed with the tests' tools only, so unknown to the type checker elsewhere
        with import_module("playwright.sync_api").sync_playwright() as browsers:
            browser = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            view = browser.new_page(viewport={"width": 1180, "height": 780}, color_scheme="light")
            view.goto(Path(page).as_uri())
            view.screenshot(path=TARGET)
            browser.close()
    print(TARGET.relative_to(ROOT))


if __name__ == "__main__":
    main()
