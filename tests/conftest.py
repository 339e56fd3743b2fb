"""Fixtures every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data beside the checkout; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("KEEPSENSE_DATA") or "../shared/data")
    folder = folder if folder.is_absolute() else ROOT / folder
    if not folder.is_dir():
        pytest.skip(f"needs the real data folder, and {folder.name!r} is not beside this checkout (set KEEPSENSE_DATA)")
    return folder
