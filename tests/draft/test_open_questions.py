"""The questions that a draft ends with."""

from __future__ import annotations

from pathlib import Path

from keepsense.draft.inspection import inspect
from keepsense.draft.open_questions import decisions


def test_lists_over_several_columns_are_offered_as_one_set() -> None:
    codes = ["E11", "I10", "J45", "K21"] * 10
    table = {"diag_1": codes, "diag_2": codes[1:] + codes[:1], "age": list(range(40))}
    (offer,) = [d for d in decisions(inspect(table), most=9) if "one list" in d.question]
    assert offer.columns == ("diag_1", "diag_2")
    assert 'kind = "set"' in offer.remedy


def test_a_file_that_was_read_as_one_column_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("job\n" + "nurse\nclerk\n" * 20)
    assert decisions(inspect(file))[0].remedy == "give its delimiter with --delimiter"


def test_the_weightiest_questions_come_first_and_are_few() -> None:
    table = {f"q{i}x": ["a", "b", "c"] * 10 for i in range(9)} | {"client_id": [f"c{i // 2}x" for i in range(30)]}
    questions = decisions(inspect(table))
    assert len(questions) <= 3
    assert questions[0].columns == ("client_id",)
    assert "and 3 more" in questions[1].question


def test_what_only_looks_measured_or_answered_is_asked_about() -> None:
    table = {"zz": (["Never", "Sometimes", "Often", "Always", "Never"] * 24), "sex": ["m", "f"] * 60}
    question = next(decision for decision in decisions(inspect(table)) if decision.columns == ("zz",))
    assert 'the role "quasi-identifier"' in question.remedy
