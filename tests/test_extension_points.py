"""Other packages add what Keepsense has several of: a tiny one is installed, and its entries work like our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import keepsense

MODEL = '''
"""No class is larger than n: the crowd is no hiding place where everybody is hunted."""

from dataclasses import dataclass
from typing import ClassVar

from keepsense.privacy.privacy_model import Model
from keepsense.privacy.privacy_model import Count
from keepsense.privacy.privacy_model import privacy_model


@privacy_model(
    check="tiny.checks:small_classes",
    promises="no class is larger than n",
    choose="crowds are dangerous",
    paper="Nobody 2026",
)
@dataclass(frozen=True)
class SmallClasses(Model):
    n: Count
    name: ClassVar[str] = "small classes"
    monotonic: ClassVar[bool] = False

    def satisfied(self, class_weights, histograms):
        return class_weights <= self.n

    def describe(self):
        return f"No class is larger than {self.n}."
'''
CHECKS = """
def small_classes(classes, promise, evidence):
    return classes.judged(promise, "SELECT class_, n AS x FROM sizes", f"x > {int(promise['n'])}", "max")
"""
METHOD = '''
"""Hide everything: one class, and nothing left to tell."""

from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method import Method, registered
from keepsense.recoding import Cut, Cuts


def blackout(counts, hierarchies, models=(), *, mark="*"):
    return Cuts(tuple(Cut(n, counts.values_of(n), (mark,) * len(counts.values_of(n))) for n in counts.names))


METHOD = registered(
    Method(
        name="blackout", title="Blackout", function=blackout, runner=by_hierarchies, family="table recoding",
        short="hide everything", intent="Hide everything.", use=("nothing is to be told",), inputs=("columns",),
        guarantee="k-anonymity", cost="None.", paper="Nobody 2026", example="Everybody reads *.", truthful=True,
        promises=("k-anonymity",), whole_values=True,
    )
)
'''
DISTANCE = """
from keepsense.semantics.distance import Distance, register


@register
class Unlike(Distance):
    name = "unlike"

    @property
    def maximum(self):
        return 1.0

    def pair(self, first, second):
        return float(first != second)

    def _block(self, rows, part):
        return (rows[:, None] != part.columns[None, :]).astype(float)
"""
METRIC = '''
from keepsense.metrics import metric


@metric("columns", "columns released", span=(0.0, None), unit="records", every_run=True)
def columns(recoded):
    """How many columns there are.

    Computed: by counting (Nobody 2026).
    """
    return float(len(recoded.counts.names))
'''
LOADER = """
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader


def read_arrows(path):
    from pathlib import Path

    lines = Path(path).read_text().splitlines()
    return from_edges([tuple(part.strip() for part in line.split("->")) for line in lines], name="arrows")


LOADERS.add("arrows", Loader("arrows", "child -> parent", read_arrows, "map-words", endings=(".arrows",)))
"""
POINTS = """
[keepsense.privacy]
small = tiny.models
[keepsense.methods]
blackout = tiny.method
[keepsense.distances]
unlike = tiny.distance
[keepsense.metrics]
columns = tiny.metric
[keepsense.loaders]
arrows = tiny.loader
"""
USE = """
import json, sys
from keepsense.privacy.privacy_model import PRIVACY, model
from keepsense.verification.verifier import verify
from keepsense.project.project_file import json_schema

table = {"job": ["nurse", "nurse", "nurse", "clerk"]}
promises = json_schema()["properties"]["privacy"]["items"]["anyOf"]
checks = [verify(table, [model("small-classes", n=n)], quasi_identifiers=["job"]) for n in (2, 3)]
print(json.dumps({
    "holds": [check.ok for check in checks],
    "findings": [str(finding) for finding in checks[0].findings],
    "schema": next(promise for promise in promises if promise["title"] == "small classes")["properties"]["n"],
}))
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a package and what an installer writes beside it."""
    for path, text in {
        "tiny/__init__.py": "",
        "tiny/models.py": MODEL,
        "tiny/checks.py": CHECKS,
        "tiny/method.py": METHOD,
        "tiny/distance.py": DISTANCE,
        "tiny/metric.py": METRIC,
        "tiny/loader.py": LOADER,
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/entry_points.txt": POINTS,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


EVERYTHING = """
import json, sys
from pathlib import Path
import keepsense as ks
from keepsense.project.project_file import json_schema
from keepsense.registry import EXTENSION_POINTS
from keepsense.taxonomy.formats.taxonomy_formats import read_taxonomy

Path("jobs.arrows").write_text("nurse -> medic\\nclerk -> office\\nmedic -> work\\noffice -> work\\n")
jobs = read_taxonomy("jobs.arrows")
table = {"job": ["nurse", "clerk"] * 5}
release = ks.anonymize(table, k=5, quasi_identifiers=["job"], taxonomies={"job": jobs}, method="blackout",
                       columns={"job": {"distance": "unlike"}})
guidance = ks.guide(table, limit=100)
print(json.dumps({
    "released": sorted(set(release.frame["job"])),
    "columns": release.utility["columns"],
    "distance": ks.distance("unlike", jobs).pair("nurse", "clerk"),
    "advised": "blackout" in [advice.name for advice in guidance.advice],
    "schema": "blackout" in json.dumps(json_schema()["$defs"]["Method"]),
    "points": sorted(EXTENSION_POINTS),
}))
"""


def run(code: str, tiny: Path, cwd: Path) -> Any:
    path = f"{tiny}:{Path(keepsense.__file__).parents[1]}"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_privacy_model_of_another_package_is_promised_and_verified(tiny: Path, tmp_path: Path) -> None:
    assert run(USE, tiny, tmp_path) == {
        "holds": [False, True],
        "findings": ["E203 small classes: 1 class with 3 records breaks the promise (worst 3, promised 2)"],
        "schema": {"type": "integer", "minimum": 1},
    }


def test_a_method_a_distance_a_metric_and_a_loader_of_another_package_work_like_our_own(
    tiny: Path, tmp_path: Path
) -> None:
    assert run(EVERYTHING, tiny, tmp_path) == {
        "released": ["*"],
        "columns": 1.0,
        "distance": 1.0,
        "advised": True,
        "schema": True,
        "points": [f"keepsense.{what}" for what in ("distances", "loaders", "methods", "metrics", "privacy")],
    }


def test_a_broken_package_is_named(tiny: Path, tmp_path: Path) -> None:
    (tiny / "tiny" / "distance.py").write_text("import nothing_of_that_name")
    code = "import keepsense as ks\ntry:\n    ks.distance('path', ks.wordnet())\nexcept ks.KeepsenseError as error:\n"
    message = run(f"import json\n{code}    print(json.dumps(str(error)))", tiny, tmp_path)
    assert "'unlike'" in message
    assert "keepsense.distances" in message
