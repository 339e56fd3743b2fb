"""Other tools, called as their documentation says. Runs in an environment of theirs: `python tools.py TOOL JOB`.

A job is a folder with `table.csv`, `job.json` (columns, k, suppression) and the hierarchies; `released.csv` and
`done.json` (seconds of the tool alone, peak memory, version) are written there.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd


def anjana(table: Any, job: dict[str, Any], folder: Path) -> Any:
    """Full-domain generalization along given hierarchies, with suppression."""
    from anjana.anonymity import k_anonymity  # type: ignore[import-not-found]

    levels = {}
    for name in job["quasi_identifiers"]:
        tree = pd.read_csv(folder / f"{name}.csv", header=None, dtype=str, sep=";", keep_default_na=False)
        levels[name] = {level: tree[level].to_numpy() for level in tree.columns}
    return k_anonymity(table, [], job["quasi_identifiers"], job["k"], 100 * job["suppression"], levels)


def anonypy(table: Any, job: dict[str, Any], folder: Path) -> Any:
    """Mondrian; numbers become ranges, categories lists of all that occur."""
    from anonypy import Preserver  # type: ignore[import-not-found]

    names = job["quasi_identifiers"]
    for name in names:
        table[name] = pd.to_numeric(table[name]) if name in job["numbers"] else table[name].astype("category")
    rows = Preserver(table, names, job["sensitive"]).anonymize_k_anonymity(job["k"])
    made = pd.DataFrame(rows)
    made = made.loc[made.index.repeat(made["count"])].drop(columns="count")
    for name in names:  # lists and one-value lists, as text
        made[name] = [";".join(map(str, cell)) if isinstance(cell, list) else str(cell) for cell in made[name]]
    return made


TOOLS = {"anjana": anjana, "anonypy": anonypy}


def main(tool: str, folder: Path) -> None:
    """Read, anonymize, write; only the tool itself is timed."""
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    table = pd.read_csv(folder / "table.csv", dtype=str, keep_default_na=False)
    start = time.process_time()
    made = TOOLS[tool](table, job, folder)
    seconds = time.process_time() - start
    made.to_csv(folder / "released.csv", index=False)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024  # getrusage would tell the parent's, too
    done = {"seconds": round(seconds, 3), "memory": round(peak), "version": version(tool)}
    (folder / "done.json").write_text(json.dumps(done), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
