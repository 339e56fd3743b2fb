"""Other packages add what Keepsense has several of: a tiny one is installed, and its entries work like our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import keepsense

MODEL = '''
"""No class is larger than n: the crowd is no hiding place where everybody is hunted."""

from dataclasses import dataclass
from typing import ClassVar

from keepsense.privacy.base import Model
from keepsense.privacy.parameters import Count
from keepsense.privacy.registry import privacy_model


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
POINTS = """
[keepsense.privacy]
small = tiny.models
"""
USE = """
import json, sys
from keepsense.privacy import PRIVACY, model, verify
from keepsense.project.schema import json_schema

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
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/entry_points.txt": POINTS,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_privacy_model_of_another_package_is_promised_and_verified(tiny: Path) -> None:
    path = f"{tiny}:{Path(keepsense.__file__).parents[1]}"
    ran = subprocess.run(
        [sys.executable, "-c", USE], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {
        "holds": [False, True],
        "findings": ["E203 small classes: 1 class with 3 records breaks the promise (worst 3, promised 2)"],
        "schema": {"type": "integer", "minimum": 1},
    }
