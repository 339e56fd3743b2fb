"""Strangers at the studio's door: other hosts, other pages, no token, too much at once; and what leaves the house."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from keepsense.studio.serving.private import PREFIX, private_folder, sweep_studios
from keepsense.studio.serving.security import EXCEPTIONS, UPLOAD_LIMIT, Guard, Secrets, policy, safe_name

PORT = 8123
HOST = f"127.0.0.1:{PORT}"
OURS = Secrets("the-token", "the-cookie")
COOKIE = {"cookie": f"keepsense-studio-{PORT}=the-cookie"}
PAGE = b"<html><script>one()</script><script type='module'>two()</script></html>"


async def _page(scope: Any, receive: Any, send: Any) -> None:
    """The application behind the guard."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(PAGE)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": PAGE[:20], "more_body": True})
    await send({"type": "http.response.body", "body": PAGE[20:]})


def ask(
    path: str = "/",
    *,
    method: str = "GET",
    kind: str = "http",
    query: str = "",
    host: str | None = HOST,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    """What the guard answers: status (or the code with which a websocket is closed, 101 if opened), headers, body."""
    sent: list[Any] = []
    named = {"host": host, **headers} if host is not None else headers
    scope = {
        "type": kind,
        "path": path,
        "method": method,
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()],
    }

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(_page, PORT, OURS)(scope, receive, send))
    if kind == "websocket":
        return (101 if sent[0]["type"] == "websocket.accept" else sent[0]["code"]), {}, b""
    headers_out = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers_out, b"".join(part.get("body", b"") for part in sent[1:])


def test_the_token_lets_in_once_and_leaves_the_address() -> None:
    status, headers, _ = ask(query="token=the-token")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "the-token" not in cookie
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert ask(**COOKIE)[0] == 200


@pytest.mark.parametrize("query", ["", "token=", "token=wrong", "token=the-token&token=wrong", "token=the-cookie"])
def test_nobody_comes_in_without_the_token(query: str) -> None:
    assert ask(query=query)[0] == 403
    assert ask("/step/open", query=query)[0] == 403
    assert ask(kind="websocket", path="/_nicegui_ws/", query=query, origin=f"http://{HOST}")[0] == 1008


@pytest.mark.parametrize(
    "cookie", ["", "keepsense-studio-8124=the-cookie", "keepsense-studio-8123=the-token", "a=\x01;"]
)
def test_another_cookie_is_none(cookie: str) -> None:
    assert ask(cookie=cookie)[0] == 403


def test_the_token_counts_at_the_first_page_only() -> None:
    assert ask("/step/open", query="token=the-token")[0] == 403
    assert ask(query="token=the-token", method="POST", content_length="0")[0] == 403


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", "[::1]"]
)
def test_another_host_is_refused_even_with_the_cookie(host: str | None) -> None:
    assert ask(host=host, **COOKIE)[0] == 421
    assert ask(host=host, query="token=the-token")[0] == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:8123", "http://127.0.0.1:8124", "http://localhost:8123"],
)
def test_another_page_is_refused_even_with_the_cookie(origin: str) -> None:
    assert ask(origin=origin, **COOKIE)[0] == 403
    assert ask(kind="websocket", path="/_nicegui_ws/", origin=origin, **COOKIE)[0] == 1008


def test_a_websocket_says_where_it_comes_from() -> None:
    assert ask(kind="websocket", path="/_nicegui_ws/", **COOKIE)[0] == 1008
    assert ask(kind="websocket", path="/_nicegui_ws/", origin=f"http://{HOST}", **COOKIE)[0] == 101


@pytest.mark.parametrize(
    ("site", "status"), [("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403)]
)
def test_a_link_on_another_page_does_not_open_the_studio(site: str, status: int) -> None:
    """Pages at other ports of this machine are of the same site, and a browser sends them the cookie."""
    assert ask(sec_fetch_site=site, **COOKIE)[0] == status


def test_too_much_is_refused_before_it_is_read() -> None:
    upload = "/_nicegui/client/abc/upload/7"
    assert ask(upload, method="POST", content_length=str(2 * 1024**3), **COOKIE)[0] == 413
    assert ask(upload, method="POST", content_length=str(UPLOAD_LIMIT), **COOKIE)[0] == 200
    assert ask("/_nicegui_ws/", method="POST", content_length=str(UPLOAD_LIMIT), **COOKIE)[0] == 413
    assert ask(upload, method="POST", **COOKIE)[0] == 411
    assert ask(upload, method="POST", content_length="5", transfer_encoding="chunked", **COOKIE)[0] == 411
    assert ask(upload, method="POST", content_length="-5", **COOKIE)[0] == 411


def test_pages_carry_a_policy_without_a_foreign_host_and_scripts_its_nonce() -> None:
    _, headers, body = ask(**COOKIE)
    rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    nonce = next(word for word in rules["script-src"].split() if word.startswith("'nonce-"))[7:-1]
    assert body.count(f'<script nonce="{nonce}"'.encode()) == 2 == body.count(b"<script")
    assert int(headers["content-length"]) == len(body)
    assert rules["default-src"] == "'none'"
    allowed = {word for rule in rules.values() for word in rule.split()}
    assert {word for word in allowed if not word.startswith("'")} == {f"ws://{HOST}", "data:"}
    assert "'unsafe-inline'" not in rules["script-src"]
    unsafe = {f"{name} {word}" for name, rule in rules.items() for word in rule.split() if "unsafe" in word}
    assert unsafe | {"img-src data:"} == set(EXCEPTIONS), "an exception that is not listed"
    assert ask(**COOKIE)[1]["content-security-policy"] != headers["content-security-policy"], "a nonce serves once"
    assert headers["cache-control"] == "no-store"


def test_files_are_shown_without_scripts() -> None:
    rules = ask("/files/report", **COOKIE)[1]["content-security-policy"]
    assert "sandbox" in rules
    assert "script-src" not in rules


def test_every_answer_forbids_frames_and_guessing() -> None:
    for headers in (ask()[1], ask(**COOKIE)[1], ask(query="token=the-token")[1]):
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system.ini", "system.ini"),
        ("/abs/people.csv", "people.csv"),
        ("..", "table"),
        (".hidden.csv", "hidden.csv"),
        ("a\x00b\n.csv", "ab.csv"),
        ("<script>.csv", "script.csv"),
        ("nul:stream.csv", "nulstream.csv"),
        ("", "table"),
    ],
)
def test_the_name_of_a_file_is_only_a_name(name: str, kept: str) -> None:
    assert safe_name(name) == kept


def test_a_long_name_keeps_its_ending() -> None:
    assert len(safe_name("x" * 500 + ".parquet")) <= 120
    assert safe_name("x" * 500 + ".parquet").endswith(".parquet")


def test_a_folder_of_a_studio_that_was_killed_goes_with_the_next_one_and_a_living_one_stays(tmp_path: Path) -> None:
    killed = tmp_path / f"{PREFIX}killed"
    killed.mkdir()
    (killed / "lock").touch()
    (killed / "people.csv").write_text("age")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(elsewhere)
    with private_folder(tmp_path) as first:
        assert not killed.exists()
        with private_folder(tmp_path) as second:
            assert first.exists()
            assert first != second
        assert sweep_studios(tmp_path) == 0
        assert first.exists()
    assert not first.exists()
    assert elsewhere.exists()


def test_the_policy_names_only_this_host() -> None:
    assert "http" not in policy("x", HOST).replace(f"ws://{HOST}", "")
