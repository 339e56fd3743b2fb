"""Fields of methods and promises: each has a label and a sentence that somebody who never read a paper understands."""

from __future__ import annotations

import re

from keepsense.methods.method import method, methods
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.studio.session.parameter_words import METHODS as TOLD
from keepsense.studio.session.parameter_words import PROMISES
from keepsense.studio.session.parameters import of_method, of_promise


def test_every_parameter_that_can_be_set_has_a_label_and_a_sentence() -> None:
    for found in methods(in_projects=True):
        for field in of_method(found):
            assert field.name in TOLD, f"{found.name}: {field.name}"
            assert field.label == TOLD[field.name].label
            assert re.fullmatch(r"[A-Z][^`=\[\]_]*\.", field.about), field.about
            assert len(field.label) <= 26, "it would be cut"


def test_every_number_of_a_promise_has_a_label() -> None:
    for name, entry in PRIVACY.items():
        for field in of_promise({**entry.section(k=5, column="illness"), "model": name}):
            assert field.label == PROMISES[field.name], f"{name}: {field.name}"


def test_a_share_of_ranks_is_given_in_percent() -> None:
    (percent,) = [field for field in of_method(method("rank swapping of numbers")) if field.name == "percent"]
    assert percent.most == 100
