"""The studio as a process: only its owner comes in, uploads stay where they belong, and it ends without a trace."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.studio.process import Studio, running

pytest.importorskip("nicegui", reason="needs NiceGUI")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with running(tmp_path_factory.mktemp("studio") / "tmp") as studio:
        yield studio


def _socket_answer(studio: Studio, **headers: str) -> str:
    """First line of the answer to a websocket that wants to be opened."""
    asked = {
        "Host": f"127.0.0.1:{studio.port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in asked.items())
    with socket.create_connection(("127.0.0.1", studio.port), timeout=60) as link:
        path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
        link.sendall(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        return link.recv(200).decode("latin-1").partition("\r\n")[0]


def test_only_the_owner_comes_in(studio: Studio) -> None:
    assert studio.ask("/")[0] == 403
    assert studio.ask("/?token=wrong")[0] == 403
    assert studio.ask("/_nicegui_ws/socket.io/?EIO=4&transport=polling")[0] == 403
    status, headers, _ = studio.ask(f"/?token={studio.token}")
    assert status == 303
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]
    status, headers, page = studio.ask("/", headers={"Cookie": studio.cookie()})
    assert status == 200
    assert b"Keepsense studio" in page
    assert "127.0.0.1" in headers["content-security-policy"]


def test_foreign_pages_and_hosts_are_refused(studio: Studio) -> None:
    ours = {"Cookie": studio.cookie()}
    assert studio.ask("/", headers={**ours, "Host": "evil.example"})[0] == 421
    assert studio.ask("/", headers={**ours, "Origin": "http://evil.example"})[0] == 403
    assert studio.ask("/", headers={**ours, "Sec-Fetch-Site": "same-site"})[0] == 403
    assert " 403 " in _socket_answer(studio, Origin="http://evil.example", **ours)
    assert " 403 " in _socket_answer(studio, **ours)
    assert " 403 " in _socket_answer(studio, Origin=studio.home)
    assert " 101 " in _socket_answer(studio, Origin=studio.home, **ours)


def test_it_listens_at_this_machine_s_own_address_alone(studio: Studio) -> None:
    others = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in {*others, "127.0.0.2"} - {"127.0.0.1"}:
        with socket.socket() as link:
            link.settimeout(5)
            assert link.connect_ex((str(address), studio.port)) != 0


def test_a_huge_upload_is_refused_before_it_is_sent(studio: Studio) -> None:
    headers = {"Cookie": studio.cookie(), "Content-Length": str(2 * 1024**3), "Content-Type": "multipart/form-data"}
    status, _, said = studio.ask("/_nicegui/client/x/upload/1", method="POST", headers=headers)
    assert status == 413
    assert b"path" in said


@pytest.mark.parametrize(
    "path",
    ["/files/../../etc/passwd", "/files/..%2f..%2fetc%2fpasswd", "/files/%2e%2e/lock", "/files//etc/passwd", "/lock"],
)
def test_no_path_leads_out(studio: Studio, path: str) -> None:
    status, _, body = studio.ask(path, headers={"Cookie": studio.cookie()})
    assert b"root:" not in body
    assert status in (303, 307, 404)


def test_what_proxies_say_is_not_believed(studio: Studio) -> None:
    headers = {"Cookie": studio.cookie(), "X-Forwarded-Prefix": "//evil.example"}
    assert b"evil.example" not in studio.ask("/", headers=headers)[2]


def test_nothing_stays_behind_when_it_ends(tmp_path: Path) -> None:
    with running(tmp_path / "tmp", "--sample") as studio:
        assert studio.ask("/", headers={"Cookie": studio.cookie()})[0] == 200
        assert list(studio.place.glob("keepsense-studio-*"))
        assert studio.end() == (0, "")
        assert list(studio.place.iterdir()) == []


def test_a_killed_one_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    with running(tmp_path / "tmp") as killed:
        killed.process.kill()
        killed.process.wait(60)
    (left,) = (tmp_path / "tmp").glob("keepsense-studio-*")
    with running(tmp_path / "tmp") as studio:
        assert not left.exists()
        assert studio.ask("/")[0] == 403
        assert studio.end() == (0, "")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from keepsense.errors import MissingExtra
    from keepsense.studio.server import serve

    monkeypatch.setitem(sys.modules, "nicegui", None)
    with pytest.raises(MissingExtra, match=r"keepsense\[studio\]"):
        serve(browser=False, say=lambda address: None)


def test_a_port_that_is_taken_is_told() -> None:
    from keepsense.errors import BadInput
    from keepsense.studio.server import serve

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BadInput, match="taken by another program"):
            serve(port=taken.getsockname()[1], browser=False, say=lambda address: None)
