"""A user's script is typed: no `Any` comes out of the front door."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import pandas as pd
import polars as pl
import keepsense as ks

frame = pd.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
release = ks.anonymize(frame, k=5, quasi_identifiers=["age"], sensitive={"ill": ks.LDiversity(2)}, identifiers=["id"])
reveal_type(release)
reveal_type(release.frame)
reveal_type(ks.anonymize(pl.DataFrame(), k=2).frame)
reveal_type(ks.anonymize("people.csv").frame.num_rows)
reveal_type(ks.anonymize({"age": [1, 2]}).frame)
reveal_type(release.columns[0].lost)
reveal_type(release.risk)
reveal_type(release.description)
reveal_type(release.findings)
reveal_type(release.verification.checks[0].promise)
reveal_type(release.recoding[0].info)
reveal_type(release.utility)
reveal_type(release.recoding)
reveal_type(release.report("report.html"))
reveal_type(release.apply(frame))
reveal_type(ks.inspect(frame))
reveal_type(ks.verify(frame, k=5, quasi_identifiers=["age"]))
reveal_type(ks.assess(frame, release.frame, ["age"]))
reveal_type(ks.compare(frame, ["optimal"], k=5)[0].description)
reveal_type(ks.compare(frame, ["optimal"], k=5)[:2])
reveal_type(ks.guide(frame))
reveal_type(ks.guide(frame).advice[0].parameters)
reveal_type(ks.guide(frame).advice[0].promised)
reveal_type(ks.run("keepsense.toml"))
reveal_type(ks.wordnet())
reveal_type(ks.distance("wu-palmer", ks.wordnet()))
reveal_type(ks.map_values(["nurse"], ks.wordnet()).concepts)
reveal_type(ks.map_values({"nurse": 2}, ks.wordnet()).unmapped)
reveal_type(ks.Hierarchy.of_rows([("a", "*")]))
reveal_type(ks.Hierarchy.of_rows([("a", "*")]).info)
reveal_type(ks.Counts.of({"age": [1, 2]}).rows_of("age"))
"""


MISSPELT = """
import keepsense as ks
ks.anonymize({'age': [1]}, quasi_identifier=['age'])
"""


def test_a_users_script_is_typed_throughout_and_a_misspelt_option_is_seen(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "misspelt.py").write_text(MISSPELT)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "script.py", "misspelt.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    notes = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert len(notes) == SCRIPT.count("reveal_type")
    assert not [line for line in notes if "Any" in line], "\n".join(notes)
    assert all(line.startswith("misspelt.py:") for line in errors), "\n".join(errors)
    assert any('"quasi_identifier"' in line for line in errors), done.stdout + done.stderr
