"""Access to the studio: only from the browser of the person who started it.

`Guard` stands before everything: before pages, files, uploads and the websocket. A request must name the studio's own
address, come from one of its pages, and carry the cookie that was given for the token of the opening address. What it
lets out carries a policy that forbids a browser to load anything from elsewhere.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

ADDRESS = "127.0.0.1"
"""The only address that the studio listens at: this machine, seen from itself."""

UPLOAD_LIMIT = 500 * 1024 * 1024
"""Most bytes of one uploaded file; larger ones are opened by their path, which copies nothing."""

FILES = "/files/"
"""Where released files and reports are fetched; they are shown without scripts."""

_MESSAGE_LIMIT = 2 * 1024 * 1024
_FORM = 64 * 1024  # what a form adds to the file in it
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Secrets:
    """What opens the studio: the token of its opening address, and the cookie that takes its place afterwards.

    >>> ours = Secrets()
    >>> ours.token != ours.cookie, len(ours.token) >= 32
    (True, True)
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))


@dataclass(frozen=True)
class Refused:
    """Why a request is not answered: a status, and a sentence for the person in front of it.

    >>> Refused(403, "Come in by the address that was printed.").status
    403
    """

    status: int
    sentence: str


_STRANGER = Refused(
    403, "This studio belongs to somebody else. Open the address that `keepsense studio` printed, with its token."
)
_FOREIGN = Refused(403, "The studio answers only its own pages.")
_WRONG_HOST = Refused(421, f"The studio answers only at {ADDRESS}.")
_NO_LENGTH = Refused(411, "The request does not say how long it is.")


class Guard:
    """An ASGI application around another: refuses strangers, limits what is sent, and adds the security headers.

    >>> guard = Guard(None, port=8123)
    >>> guard.url.startswith("http://127.0.0.1:8123/?token="), guard.refusal({"type": "http", "headers": []}).status
    (True, 421)
    """

    def __init__(self, app: Application, port: int, ours: Secrets | None = None, limit: int = UPLOAD_LIMIT) -> None:
        self.app = app  # NiceGUI looks for the application below under this name
        self._secrets = ours or Secrets()
        self._hosts = frozenset(f"{name}:{port}" for name in (ADDRESS, "localhost"))
        self._cookie = f"keepsense-studio-{port}"  # browsers share cookies among ports
        self._limit = limit
        self._port = port

    @property
    def url(self) -> str:
        """The address that lets its owner in."""
        return f"http://{ADDRESS}:{self._port}/?token={self._secrets.token}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = self.refusal(scope)
        entering = scope["type"] == "http" and self._enters(scope)
        if refused is _STRANGER and entering:
            await self._let_in(send)
        elif refused is not None:
            await _refuse(scope, receive, send, refused)
        elif entering:  # who is in already leaves the token out of the address
            await self._let_in(send)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            nonce = secrets.token_urlsafe(16)
            lasting = scope["path"].startswith("/_nicegui/") and scope["method"] == "GET"
            await self.app(_own(scope), receive, _Sender(send, nonce, self._policy(scope, nonce), lasting=lasting))

    def refusal(self, scope: Message) -> Refused | None:
        """Why a request is refused, or None where it is answered."""
        headers = _headers(scope)
        if headers.get("host") not in self._hosts:
            return _WRONG_HOST
        origin = headers.get("origin")
        is_socket = scope["type"] == "websocket"
        if (origin is not None or is_socket) and origin != f"http://{headers['host']}":
            return _FOREIGN
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _FOREIGN
        if not self._knows(headers.get("cookie", "")):
            return _STRANGER
        return None if is_socket else self._too_much(scope, headers)

    def _too_much(self, scope: Message, headers: dict[str, str]) -> Refused | None:
        if scope.get("method") in ("GET", "HEAD", "OPTIONS"):
            return None
        length = headers.get("content-length", "")
        if not length.isdecimal() or "transfer-encoding" in headers:
            return _NO_LENGTH
        limit = self._limit + _FORM if "/upload/" in scope.get("path", "") else _MESSAGE_LIMIT
        if int(length) > limit:
            return Refused(413, f"This is more than {readable(limit)}. Open large files by their path.")
        return None

    def _knows(self, header: str) -> bool:
        try:
            jar = SimpleCookie(header)
        except CookieError:
            return False
        morsel = jar.get(self._cookie)
        return morsel is not None and secrets.compare_digest(morsel.value.encode(), self._secrets.cookie.encode())

    def _enters(self, scope: Message) -> bool:
        if scope.get("path") != "/" or scope.get("method") != "GET":
            return False
        tokens = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        return len(tokens) == 1 and secrets.compare_digest(tokens[0].encode(), self._secrets.token.encode())

    async def _let_in(self, send: Send) -> None:
        """Give the cookie, and lead to an address without the token, which would stay in the history otherwise."""
        cookie = f"{self._cookie}={self._secrets.cookie}; Path=/; HttpOnly; SameSite=Strict"
        headers = [("location", "/"), ("set-cookie", cookie), ("content-length", "0"), *_always()]
        await send({"type": "http.response.start", "status": 303, "headers": _encoded(headers)})
        await send({"type": "http.response.body", "body": b""})

    def _policy(self, scope: Message, nonce: str) -> str:
        if scope.get("path", "").startswith(FILES):
            return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
        host = _headers(scope)["host"]
        return policy(nonce, host)


EXCEPTIONS = {
    "script-src 'unsafe-eval'": "Vue, on which NiceGUI stands, compiles its templates in the browser",
    "style-src 'unsafe-inline'": "Quasar, on which NiceGUI stands, puts sizes and places into style attributes",
    "img-src data:": "Quasar draws some of its icons as images inside the page",
}
"""What the policy allows beyond the studio's own files, and why."""


def policy(nonce: str, host: str) -> str:
    """The content security policy of a page; no host but the studio's own stands in it.

    >>> policy("abc", "127.0.0.1:8123").split("; ")[1]
    "script-src 'self' 'nonce-abc' 'unsafe-eval'"
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            f"connect-src 'self' ws://{host}",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
    )


def safe_name(name: str, otherwise: str = "table") -> str:
    r"""The name of an uploaded file without any path, control characters or leading dots; never empty.

    >>> safe_name("../../etc/passwd"), safe_name("C:\\data\\people.csv"), safe_name("..\x00"), safe_name("a\u202e.csv")
    ('passwd', 'people.csv', 'table', 'a.csv')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(c for c in last if unicodedata.category(c)[0] != "C" and c not in '<>:"|?*')
    cleaned = shown.strip().lstrip(".")
    if len(cleaned) > _LONGEST_NAME:  # the ending says how it is read
        stem, dot, ending = cleaned.rpartition(".")
        cleaned = f"{stem[: _LONGEST_NAME - len(ending)]}{dot}{ending}"[-_LONGEST_NAME:]
    return cleaned or otherwise


def readable(size: int) -> str:
    """A number of bytes for people.

    >>> readable(500 * 1024 * 1024), readable(2048)
    ('500 MB', '2 kB')
    """
    for unit, factor in (("GB", 1024**3), ("MB", 1024**2), ("kB", 1024)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


class _Sender:
    """Sends an answer on with the security headers, and the nonce in the scripts of pages."""

    def __init__(self, send: Send, nonce: str, policy: str, *, lasting: bool) -> None:
        self._send = send
        self._lasting = lasting
        self._nonce = nonce
        self._policy = policy
        self._start: Message | None = None
        self._body: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        """Send one message; a page is held back until it is whole."""
        if message["type"] == "http.response.start":
            own = _encoded([*_always(), ("content-security-policy", self._policy)])
            if self._lasting:  # files of the framework are the same until its version, and so their address, changes
                own = [(name, value) for name, value in own if name != b"cache-control"]
            names = {name for name, _ in own}
            message["headers"] = [*((n, v) for n, v in message["headers"] if n.lower() not in names), *own]
            kinds = [value for name, value in message["headers"] if name.lower() == b"content-type"]
            if any(kind.startswith(b"text/html") for kind in kinds):
                self._start = message
                return
        elif self._start is not None and message["type"] == "http.response.body":
            self._body.append(message.get("body", b""))
            if message.get("more_body"):
                return
            # every script in it is the framework's: what comes from data has no "<" left in it
            page = b"".join(self._body).replace(b"<script", f'<script nonce="{self._nonce}"'.encode())
            headers = [(n, v) for n, v in self._start["headers"] if n.lower() != b"content-length"]
            self._start["headers"] = [*headers, (b"content-length", str(len(page)).encode())]
            await self._send(self._start)
            message = {"type": "http.response.body", "body": page}
        await self._send(message)


def _always() -> list[tuple[str, str]]:
    return [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ]


def _headers(scope: Message) -> dict[str, str]:
    """Headers by name; one that is sent twice is none that can be trusted, and becomes both values."""
    headers: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}; {text}" if key in headers else text
    return headers


def _own(scope: Message) -> Message:
    """The request without what proxies say: there is none, and the framework would believe it."""
    headers = [(name, value) for name, value in scope["headers"] if not name.lower().startswith(b"x-forwarded")]
    return {**scope, "headers": headers}


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def _refuse(scope: Message, receive: Receive, send: Send, refused: Refused) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    body = refused.sentence.encode()
    headers = [
        ("content-type", "text/plain; charset=utf-8"),
        ("content-length", str(len(body))),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("connection", "close"),  # what is still on its way is not read
        *_always(),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": _encoded(headers)})
    await send({"type": "http.response.body", "body": body})
