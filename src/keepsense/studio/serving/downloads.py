"""Downloads: the files that a session names, and no others; a request never names a path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route


class Shelf:
    """Files that can be fetched, each under a word of ours.

    >>> shelf = Shelf()
    >>> shelf.put("report", Path("/home/me/release/report.html"), show=True)
    '/files/report'
    >>> shelf.get("report")[0].name, shelf.get("../report")
    ('report.html', None)
    """

    def __init__(self, at: str = "/files/") -> None:
        self._at = at
        self._files: dict[str, tuple[Path, bool]] = {}

    def put(self, word: str, file: Path, *, show: bool = False) -> str:
        """Let a file be fetched, or shown where it is a page; returns its address."""
        self._files[word] = (file, show)
        return f"{self._at}{quote(word)}"

    def get(self, word: str) -> tuple[Path, bool] | None:
        """A file, and whether it is to be shown in place of saved."""
        return self._files.get(word)

    def clear(self) -> None:
        """Hand out nothing any more."""
        self._files.clear()


def routes(shelf: Shelf, at: str = "/files/") -> list[Route]:
    """The addresses at which files of a shelf are fetched."""
    from starlette.responses import FileResponse, PlainTextResponse
    from starlette.routing import Route

    async def fetch(request: Request) -> Response:
        entry = shelf.get(request.path_params["word"])
        if entry is None or not entry[0].is_file():
            return PlainTextResponse("There is no such file.", status_code=404)
        file, show = entry
        kind = "text/html; charset=utf-8" if show else "application/octet-stream"
        return FileResponse(
            file, media_type=kind, filename=file.name, content_disposition_type="inline" if show else "attachment"
        )

    handler: Callable[..., Any] = fetch
    return [Route(f"{at}{{word}}", handler, methods=["GET"])]
