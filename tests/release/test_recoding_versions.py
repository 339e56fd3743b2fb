"""Recoding files carry the version of their format; those from before there were versions are still read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keepsense.errors import BadInput
from keepsense.recoding import Cut, Cuts
from keepsense.release.recoding_file import read_recodings, save_recodings

RULES = [Cuts((Cut("sex", ("f", "m"), ("*", "*"), 1),))]


def test_a_file_states_its_version_and_a_bare_list_is_read_as_before(tmp_path: Path) -> None:
    file = tmp_path / "recoding.json"
    save_recodings(list(RULES), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("keepsense recoding", 2)
    file.write_text(json.dumps(document["rules"]), encoding="utf-8")
    assert [rule.levels for rule in read_recodings(file)] == [(1,)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "use a newer one"),
        ({"version": "2"}, "not a recoding file"),
        ({"version": 1}, "not a recoding file"),
        ({"format": "keepsense hierarchy"}, "not a recoding file"),
        ({"rules": {}}, "not a recoding file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    file = tmp_path / "recoding.json"
    save_recodings(list(RULES), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(document | change), encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_recodings(file)
