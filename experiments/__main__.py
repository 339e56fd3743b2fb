"""`python -m experiments list` and `python -m experiments run NAME|all`."""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent


def names() -> dict[str, str]:
    """Every experiment and the first line of what it says about itself."""
    found = {}
    for script in sorted(HERE.glob("*/run.py")):
        about = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
        found[script.parent.name] = about.partition("\n")[0]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="name the experiments")
    verbs.add_parser("run", help="run one, or all").add_argument("name")
    chosen = parser.parse_args(arguments)
    known = names()
    if chosen.verb == "list":
        for name, about in known.items():
            print(f"{name}: {about}")
        return 0
    if chosen.name != "all" and chosen.name not in known:
        print(f"no experiment {chosen.name!r}; there are: {', '.join(known) or 'none yet'}", file=sys.stderr)
        return 2
    for name in known if chosen.name == "all" else [chosen.name]:
        results = HERE / name / "results"
        results.mkdir(parents=True, exist_ok=True)
        importlib.import_module(f"experiments.{name}.run").run(results)
        print(f"{name}: {results.relative_to(HERE.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
