"""Commands run with a fault at one of their steps: started with `injected.c` loaded before all else.

Reads lists of cases, a line each, runs every case in a process made from this one, which has everything loaded already,
and prints how they ended.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

from keepsense import cli


def ended(case: dict[str, Any]) -> int:
    """How a command ends whose step `at` goes wrong as `mode` says."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 99
    try:
        folder = Path(case["folder"])
        os.chdir(folder)
        os.environ["KEEPSENSE_FAULT_FOLDER"] = str(folder)
        said = os.open(case["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        steps = os.open(case["steps"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        if case.get("user") is not None:
            os.setgroups([])
            os.setgid(case["user"])
            os.setuid(case["user"])
        ctypes.CDLL(None).keepsense_arm(case["at"], case["mode"], steps)
        try:
            cli.main(case["words"])
        except SystemExit as end:
            code = int(end.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main() -> None:
    os.chdir(sys.argv[1])
    before = sys.stdout
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        sys.stdout = nowhere
        try:
            cli.main(["run"])  # loads everything once
        except SystemExit:
            pass
        finally:
            sys.stdout = before
    for line in sys.stdin:
        print(json.dumps([ended(case) for case in json.loads(line)]), flush=True)


if __name__ == "__main__":
    main()
