"""Beside peers: the same tables, hierarchies and promise through Keepsense and what installs from PyPI beside it."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import tables
from experiments.peers import ours, report
from experiments.peers.measure import MEASURES, figures
from experiments.thesis.data import folder
from keepsense.counts import Counts, Value
from keepsense.engines.protocol import started
from keepsense.hierarchies.formats.arx_csv import read_arx
from keepsense.methods.method import method
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.project.project_file import Project
from keepsense.release.job.job import Job
from keepsense.sample_people import people
from keepsense.utility.generalization_losses import loss
from keepsense.utility.value_distances import value_concepts, value_distances

HERE = Path(__file__).parent
PINNED = ("anjana==1.2.3", "anonypy==0.2.1", "pycanon==1.3.5")
"""What is compared; installed into an environment of its own, because it needs other versions of what we need."""
OURS = ("optimal", "local recoding", "mondrian", "semantic mondrian")
K, SUPPRESSION, SECONDS = 5, 0.05, 600
PAGE = HERE.parents[1] / "docs" / "explanation" / "beside-peers.md"
Table = tuple[list[dict[str, str]], list[str], list[str], str]


def run(results: Path) -> None:
    """Every tool on every table; a tool that fails or takes longer than ten minutes is told so."""
    with tempfile.TemporaryDirectory() as room:
        python = _environment(Path(room))
        rows = [row for name in ("adult", "insurance", "sample people") for row in _table(name, Path(room), python)]
    optima = list(beside_arx())
    tables.write(results / "peers.csv", rows)
    tables.write(results / "arx.csv", optima)
    write(results)


def write(results: Path) -> None:
    """The README of the results and the page of the documentation, from the files of the last run."""
    text = page(results)
    (results / "README.md").write_text(text, encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")


def page(results: Path) -> str:
    """The page, from the result files."""
    rows, optima = (_rows(results / f"{name}.csv", ",") for name in ("peers", "arx"))
    return report.text(rows, optima, K, SUPPRESSION, PINNED)


def beside_arx() -> Iterator[dict[str, Any]]:
    """Keepsense on all nine columns of Adult, k = 5, and what ARX came to on the same table and hierarchies."""
    table = _rows(folder() / "adult" / "adult.csv", ";")
    trees = {name: read_arx(folder() / "adult" / f"adult_hierarchy_{name}.csv").named(name) for name in table[0]}
    columns: dict[str, list[Value]] = {name: [row[name] for row in table] for name in trees}
    counts = Counts.of(columns)
    for name, options, theirs in report.ARX:
        function: Any = method(name).function
        start = time.process_time()
        made = function(counts, trees, [KAnonymity(K)], **options)
        seconds = time.process_time() - start
        yield {
            "method": name,
            "suppression": f"{options.get('suppression', 0.0):.0%}",
            "loss": f"{loss(counts, made, trees):.4f}",
            "ARX": f"{theirs:.4f}",
            "seconds": f"{seconds:.2f}",
        }


def _environment(room: Path) -> Path:
    """Python of an environment with the other tools: `KEEPSENSE_PEERS` names one, else it is made."""
    if "KEEPSENSE_PEERS" in os.environ:
        return Path(os.environ["KEEPSENSE_PEERS"])
    subprocess.run([sys.executable, "-m", "venv", str(room / "peers")], check=True)
    python = room / "peers" / "bin" / "python"
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([str(python), "-m", "pip", "install", *quiet, *PINNED], check=True)
    return python


def _table(name: str, room: Path, python: Path) -> Iterator[dict[str, Any]]:
    rows, identifying, numbers, sensitive = _read(name)
    job = room / name
    job.mkdir()
    with (job / "table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*identifying, sensitive], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    asked = {"quasi_identifiers": identifying, "numbers": numbers, "sensitive": sensitive}
    (job / "job.json").write_text(json.dumps({**asked, "k": K, "suppression": SUPPRESSION}), encoding="utf-8")
    _hierarchies(name, job, identifying, numbers, sensitive)
    trees = ours.hierarchies(job, identifying)
    calls = {method: [sys.executable, "-m", "experiments.peers.ours", method] for method in OURS}
    calls |= {tool: [str(python), str(HERE / "tools.py"), tool] for tool in ("anjana", "anonypy")}
    for tool, call in calls.items():
        row: dict[str, Any] = {"table": name, "rows": len(rows), "columns": len(identifying), "tool": tool}
        row |= dict.fromkeys(("version", "seconds", "memory"), "")
        row |= dict.fromkeys(("smallest class", "k holds", "left out", "starred"), "")
        row |= dict.fromkeys((*MEASURES, "average class", "discernibility", "checked by pycanon", "note"), "")
        row |= _one(call, job, identifying, trees, python)
        yield row
        print(f"  {name}: {tool}, {row['seconds'] or row['note']} s", flush=True)


def _one(call: list[str], job: Path, names: list[str], trees: Any, python: Path) -> dict[str, Any]:
    for old in ("released.csv", "done.json"):
        (job / old).unlink(missing_ok=True)
    try:
        done = subprocess.run([*call, str(job)], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"note": f"stopped after {SECONDS} s"}
    if done.returncode:
        return {"note": f"failed: {done.stderr.strip().splitlines()[-1][:120]}"}
    found = json.loads((job / "done.json").read_text(encoding="utf-8"))
    return {**found, **figures(job, names, trees, K), "checked by pycanon": _pycanon(job, names, python)}


def _pycanon(job: Path, names: list[str], python: Path) -> str:
    """What pycanon counts on the released file, records that are starred in every column apart."""
    script = (
        "import json,sys,pandas as pd; from pycanon.anonymity import k_anonymity; names=json.loads(sys.argv[2]); "
        "t=pd.read_csv(sys.argv[1],dtype=str,keep_default_na=False); t=t[(t[names]!='*').any(axis=1)]; "
        "print(k_anonymity(t,names))"
    )
    call = [str(python), "-c", script, str(job / "released.csv"), json.dumps(names)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.stdout.strip() if done.returncode == 0 else "failed"


def _read(name: str) -> Table:
    if name == "adult":
        rows = _rows(folder() / "adult" / "adult.csv", ";")
        return rows, [column for column in rows[0] if column != "salary-class"], ["age"], "salary-class"
    if name == "insurance":
        rows = _rows(folder() / "insurance" / "insurance_act_original_occ_original_10000.csv", ",")
        rows = [{column: cell.replace("_", " ") for column, cell in row.items()} for row in rows]
        names = ["gender", "age", "occupation", "placeOfWork", "activity", "placeOfActivity"]
        return rows, names, ["age"], "riskOfAccidentClass"
    listed = people(10_000, np.random.default_rng(1)).to_pylist()
    names = ["sex", "age", "place", "occupation", "workplace", "hobby"]
    return [{column: str(cell) for column, cell in row.items()} for row in listed], names, ["age"], "diagnosis"


def _rows(path: Path, delimiter: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def _hierarchies(name: str, job: Path, names: list[str], numbers: list[str], sensitive: str) -> None:
    """Adult's own; for the other tables those that Keepsense builds, because no other tool here builds any."""
    if name == "adult":
        for column in names:
            shutil.copy(folder() / "adult" / f"adult_hierarchy_{column}.csv", job / f"{column}.csv")
        return
    words = {"role": "quasi-identifier", "kind": "nominal", "taxonomy": "wordnet"}
    flat = {"gender", "sex"}
    places = {"place"}
    columns: dict[str, Any] = {sensitive: {"role": "sensitive"}}
    for column in names:
        if column in numbers:
            columns[column] = {"role": "quasi-identifier", "kind": "numeric"}
        elif column in flat:
            columns[column] = {"role": "quasi-identifier", "kind": "nominal"}
        else:
            columns[column] = {**words, "taxonomy": "places"} if column in places else words
    project = Project.model_validate(
        {"source": {"path": "table.csv"}, "columns": columns, "privacy": [{"model": "k-anonymity", "k": K}]}
    )
    with started("duckdb") as engine:
        made = Job(project, job, engine, np.random.default_rng(1))
        trees = made.hierarchies
        for column in names:
            with (job / f"{column}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";").writerows(trees[column].rows())
        for column, measure in made.distances.items():
            concepts = value_concepts(trees[column], measure.taxonomy)
            known = [str(leaf) for leaf in trees[column].leaves if leaf in concepts]
            apart = np.ones(
                (len(trees[column].leaves),) * 2
            )  # what is in no taxonomy is as far as can be from all else
            np.fill_diagonal(apart, 0.0)
            at = [i for i, leaf in enumerate(trees[column].leaves) if leaf in concepts]
            apart[np.ix_(at, at)] = value_distances(measure, known, known, concepts)
            np.savez(job / f"{column}.meaning.npz", values=[str(v) for v in trees[column].leaves], apart=apart)
