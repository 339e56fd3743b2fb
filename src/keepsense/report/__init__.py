"""What people see: the report of a release, in one offline HTML file, for colleagues or for the public."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keepsense.report.report import write_report as write_report

__all__ = ["write_report"]


def __getattr__(name: str) -> object:
    if name == "write_report":
        from keepsense.report.report import write_report

        return write_report
    raise AttributeError(f"module 'keepsense.report' has no attribute {name!r}")
