"""Read the description of a release, `release.json`: every part has the right type, or it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from keepsense.errors import BadInput
from keepsense.files import parsed_json
from keepsense.release.folder.packed_arrays import plain_array, read_array

DESCRIPTION = "release.json"
_MANY_CHANCES = 250_000
"""Chances from which on a matrix is packed: nobody reads so many, and as text they take long to write."""
_BILLION = 10**9


def read_description(folder: str | Path) -> dict[str, Any]:
    """What `release.json` in a release folder says.

    >>> from keepsense.release.example import example_release
    >>> read_description(example_release().file.parent)["dictionary"]["job"]["done"]
    'as it was'
    """
    try:
        description = parsed_json((Path(folder) / DESCRIPTION).read_bytes())
        _Description.model_validate(description)
    except OSError as error:
        raise BadInput(
            f"{DESCRIPTION}: the description of the release cannot be read ({error.strerror}); name a release folder, "
            "or make the release with `keepsense run`"
        ) from None
    except (ValueError, OverflowError):
        raise BadInput(f"{DESCRIPTION}: this is not the description of a release") from None
    return dict(description)


def written_chances(chances: NDArray[np.float64]) -> Any:
    """A matrix of chances as a description holds it: a list a row, or packed as billionths where there are very many.

    >>> written_chances(np.array([[0.75, 0.25], [0.0, 1.0]]))
    [[0.75, 0.25], [0.0, 1.0]]
    >>> sorted(written_chances(np.full((600, 600), 1 / 600)))
    ['kind', 'packed', 'shape']
    """
    if chances.size < _MANY_CHANCES:
        return chances.tolist()
    return plain_array(np.rint(chances * _BILLION).astype(np.int64))


def transition_matrices(folder: str | Path) -> dict[str, tuple[list[Any], NDArray[np.float64]]]:
    """By column: its values and, a row and a column for each, the chance that one was drawn in place of another.

    With them readers undo the effect of drawing on counts; see `keepsense.methods.perturb.pram.estimate`. The last
    value, `other`, stands for all that are not in the release.

    >>> from keepsense.release.example import example_release
    >>> transition_matrices(example_release().file.parent)
    {}
    """
    matrices = read_description(folder).get("transition matrices", {})
    try:
        return {name: (matrix["values"], _read_chances(matrix["chances"])) for name, matrix in matrices.items()}
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"{DESCRIPTION}: its matrices of chances are damaged") from None


def _read_chances(chances: Any) -> NDArray[np.float64]:
    if isinstance(chances, dict):
        return read_array(chances, np.int64) / _BILLION
    return np.array(chances, dtype=np.float64)


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Method(_Part):
    name: str
    parameters: dict[str, Any] = {}


class _Step(_Part):
    name: str
    columns: list[str] = []
    parameters: dict[str, Any] = {}
    rows: int = 0
    lost: dict[str, float] = {}


class _Column(_Part):
    role: str
    kind: str
    lost: float | None = None


class _Label(_Part):
    lower: float | str | None = None
    upper: float | str | None = None
    meaning: str = ""
    concept: str | None = None
    stands_for: list[str] = Field([], alias="stands for")
    and_others: bool | int = Field(False, alias="and others")


class _Entry(_Part):
    role: str
    kind: str
    done: str
    truth: str = ""
    taxonomy: str = ""
    marks: dict[str, str] = {}
    labels: dict[str, _Label] = {}


class _Packed(_Part):
    kind: str
    shape: list[int]
    packed: str


class _Matrix(_Part):
    values: list[str | float | bool | None]
    chances: list[list[float]] | _Packed


class _Description(_Part):
    """What reports show and readers use of a description, each of the kind it is."""

    keepsense: str
    release: str
    sha256: str | None = None
    promises: list[dict[str, Any]]
    in_words: list[str] = Field(alias="in words")
    method: _Method
    steps: list[_Step] = []
    columns: dict[str, _Column]
    utility: dict[str, float]
    risk: dict[str, dict[str, float]]
    hierarchies: dict[str, list[list[str | float | bool | None]]] = {}
    records: float = 0
    classes: float = 0
    removed: int = Field(0, alias="removed columns")
    suppressed: float = Field(0, alias="suppressed records")
    left_out: float = Field(0, alias="of them left out")
    limit: float = Field(0, alias="suppression limit")
    matrices: dict[str, _Matrix] = Field({}, alias="transition matrices")
    dictionary: dict[str, _Entry] = {}
