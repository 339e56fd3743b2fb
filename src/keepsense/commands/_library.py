"""Taxonomies by name, as options of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from keepsense.taxonomy.library import SUFFIX, WORDNET, check_name, find, folder, imported, read

__all__ = ["SUFFIX", "WORDNET", "TaxonomyName", "check_name", "find", "folder", "imported", "read"]

TaxonomyName = Annotated[
    str, typer.Option("--taxonomy", "-t", help="`wordnet`, the name of an imported taxonomy, or a taxonomy file.")
]
