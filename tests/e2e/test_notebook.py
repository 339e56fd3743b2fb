"""The notebook of the tutorial runs from top to bottom and shows what it is meant to show."""

from __future__ import annotations

import warnings
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "python.ipynb"


def test_the_notebook_does_the_whole_job(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own libraries
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output["data"] for output in outputs if "data" in output]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert sum("image/svg+xml" in data for data in shown) == 2, "two plots"
    assert sum("<Release: verified" in data.get("text/plain", "") for data in shown) == 2
