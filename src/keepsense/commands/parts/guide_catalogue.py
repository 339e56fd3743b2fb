"""The catalogue of methods as `keepsense guide` shows it: a tree of all, or one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from keepsense.commands.parts.output import show

if TYPE_CHECKING:
    from rich.console import Console


def show_catalogue(name: str | None, html: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Show one entry, or the tree of all."""
    from keepsense.files import whole_file
    from keepsense.guide import catalogue, describe, taxonomy_tree
    from keepsense.guide.page import entry_page

    if name is None:
        trees = taxonomy_tree.trees()

        def render(console: Console) -> None:
            console.print("")
            for branch in trees:
                console.print(taxonomy_tree.draw_tree_text(branch), markup=False)
                console.print("")
            console.print("* one of the nine algorithms of Ben Fredj et al. (2015)")
            console.print('Say more about one: `keepsense guide datafly`, `keepsense guide "rank swapping"`')

        entries = [describe.as_data(one) for one in catalogue.catalogue().values()]
        show({"methods": entries}, render, as_json=as_json, quiet=quiet)
        return
    found = catalogue.entry(name)
    if html is not None:
        with whole_file(html) as part:
            part.write_text(entry_page(found.name), encoding="utf-8")

    def render_one(console: Console) -> None:
        console.print(describe.as_text(found), markup=False)
        if html is not None:
            console.print(f"\nwritten to {html}: open it in a browser", markup=False)

    show(describe.as_data(found), render_one, as_json=as_json, quiet=quiet)
