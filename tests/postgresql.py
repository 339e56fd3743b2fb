"""A PostgreSQL server of its own for tests: made in a temporary folder, with passwords, stopped at the end."""

from __future__ import annotations

import getpass
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

OWNER = "keeper"


@dataclass(frozen=True)
class Server:
    """Where the server listens, and the password of its owner."""

    port: int
    socket: Path
    password: str

    def address(self, database: str = "postgres", user: str = OWNER, password: str | None = None) -> str:
        """An address with a password, as a test would write it."""
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def without_password(self, database: str = "postgres", user: str = OWNER) -> str:
        """An address as it belongs into a project file."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run statements by another connection than the one under test; the rows of the last."""
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as base:
            for statement in statements:
                cursor = base.execute(statement)  # type: ignore[call-overload, unused-ignore]
            return list(cursor.fetchall()) if cursor.description else []


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A running server; tests that need one are skipped where PostgreSQL is not installed."""
    pytest.importorskip("psycopg", reason="needs psycopg; install keepsense[postgresql]")
    programs = _programs()
    if programs is None:
        pytest.skip("needs a PostgreSQL server: initdb and postgres are neither on the path nor in /usr/lib/postgresql")
    with _running(programs) as started:
        yield started


def _programs() -> Path | None:
    """Folder of initdb and postgres."""
    found = shutil.which("initdb")
    places = [] if found is None else [Path(found).resolve().parent]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in places if (p / "initdb").exists() and (p / "postgres").exists()), None)


def _user() -> str | None:
    """Whom the server runs as: PostgreSQL refuses root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("needs a PostgreSQL server, and there is no user but root to run it")


@contextmanager
def _running(programs: Path) -> Iterator[Server]:
    user, password = _user(), secrets.token_hex(8)
    folder = Path(tempfile.mkdtemp(prefix="ks-pg-"))
    try:
        (folder / "password").write_text(password)
        if user is not None:
            shutil.chown(folder, user)
            shutil.chown(folder / "password", user)
        as_user: dict[str, Any] = {"cwd": folder, "env": {**os.environ, "LC_ALL": "C", "TZ": "UTC"}}
        if user is not None:
            as_user |= {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
        how = ["--encoding=UTF8", "--auth=scram-sha-256", f"--username={OWNER}", "--no-sync", "--no-instructions"]
        making = [str(programs / "initdb"), f"--pgdata={folder / 'data'}", f"--pwfile={folder / 'password'}", *how]
        made = subprocess.run(making, capture_output=True, text=True, check=False, **as_user)
        if made.returncode:
            pytest.skip(f"initdb as {user or getpass.getuser()} fails here: {made.stderr.strip()[-300:]}")
        with (folder / "log").open("wb") as log:
            port = _free_port()
            settings = {
                "port": port,
                "listen_addresses": "127.0.0.1",
                "unix_socket_directories": folder,
                "fsync": "off",
            }
            settings |= {"shared_buffers": "16MB", "max_connections": 20, "autovacuum": "off"}
            options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
            process = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", *options], stdout=log, stderr=log, **as_user
            )
        try:
            started = Server(port, folder, password)
            _wait(started, process, folder / "log")
            yield started
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown: connections are closed
            process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(started: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            psycopg.connect(started.address(), connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    pytest.fail(f"the PostgreSQL server does not start: {log.read_text(errors='replace')[-500:]}")
