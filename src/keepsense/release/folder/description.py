"""The description of a release, `release.json`, read from whoever gave it: each part of the kind it is, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from keepsense.errors import BadInput
from keepsense.files import parsed_json

DESCRIPTION = "release.json"


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


class _Matrix(_Part):
    values: list[str | float | bool | None]
    chances: list[list[float]]


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
