"""`python -m benchmarks list` and `python -m benchmarks run NAME|all [--json]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict

from benchmarks._registry import Figure, all_benchmarks


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; exit code 1 where a bar does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="name the benchmarks")
    run = verbs.add_parser("run", help="run one, or all")
    run.add_argument("name")
    run.add_argument("--json", action="store_true", help="one JSON object a figure")
    run.add_argument("--rows", type=int, help="rows of benchmarks that take a number of them")
    chosen = parser.parse_args(arguments)
    if getattr(chosen, "rows", None) is not None:
        os.environ["KEEPSENSE_ROWS"] = str(chosen.rows)
    known = all_benchmarks()
    if chosen.verb == "list":
        print("\n".join(known))
        return 0
    if chosen.name != "all" and chosen.name not in known:
        print(f"no benchmark {chosen.name!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    failed = False
    for name in known if chosen.name == "all" else [chosen.name]:
        for figure in known[name]():
            print(json.dumps(asdict(figure)) if chosen.json else _line(figure), flush=True)
            failed = failed or figure.holds is False
    return 1 if failed else 0


def _line(figure: Figure) -> str:
    verdict = {True: "holds", False: "DOES NOT HOLD", None: "not measured"}[figure.holds]
    value = "-" if figure.figure is None else f"{figure.figure:,.4g} {figure.unit}"
    ratio = "-" if figure.ratio is None else f"{figure.ratio:,.4g}"
    return f"{figure.name}: {value}; ratio {ratio} against {figure.against}; bar {figure.bar}: {verdict}"


if __name__ == "__main__":
    sys.exit(main())
