"""A studio in a process of its own, as people start it, and requests to it that no browser would send."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

SRC = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Studio:
    """A studio that runs: its process, the address that it printed, and where its private folder is made."""

    process: subprocess.Popen[str]
    address: str
    place: Path

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def home(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    def ask(
        self, path: str, *, method: str = "GET", body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """What it answers; headers are sent as given, whatever they claim."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": f"127.0.0.1:{self.port}", **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def cookie(self) -> str:
        """The cookie that its owner gets."""
        _, headers, _ = self.ask(f"/?token={self.token}")
        return headers["set-cookie"].partition(";")[0]

    def end(self, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Press Ctrl-C and wait: its exit code, and what it said in the end."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@contextmanager
def running(place: Path, *arguments: str) -> Iterator[Studio]:
    """A studio started with some arguments, whose temporary files are in a folder; ended when the block ends."""
    place.mkdir(parents=True, exist_ok=True)
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NICEGUI"))}
    settings |= {"TMPDIR": str(place), "PYTHONPATH": str(SRC)}
    process = subprocess.Popen(
        [sys.executable, "-m", "keepsense", "studio", "--no-browser", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=place,
        env=settings,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate(timeout=60)[1])
        yield Studio(process, json.loads(line)["address"], place)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=60)
