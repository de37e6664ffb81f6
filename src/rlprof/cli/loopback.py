"""A small HTTP server for this machine alone: reads only, answers only who asks for it by its own address.

A page on the internet can make a browser send requests to 127.0.0.1, under a name that it points there, too. So the
Host and Origin of each request are checked, and what is not public is behind a token that only the terminal shows.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final, NamedTuple

from rlprof.model.errors import BadOption

ADDRESS: Final = "127.0.0.1"
TEXT: Final = "text/plain; charset=utf-8"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Answer(NamedTuple):
    body: str
    content_type: str = TEXT


#: What there is to read, by path without its first slash; each is made when it is asked for.
Pages = Mapping[str, Callable[[], Answer]]


def serve(port: int, pages: Pages, *, token: bool) -> LoopbackServer:
    """Take the port (0: any that is free). Nothing is answered before `start`."""
    try:
        return LoopbackServer(port, pages, secrets.token_urlsafe(24) if token else None)
    except OverflowError:
        raise BadOption(f"{port} is no port: choose one from 0 to 65535") from None
    except OSError as error:
        raise BadOption(f"cannot serve on port {port}: {error.strerror or error}; 0 takes a free one") from None


class LoopbackServer(ThreadingHTTPServer):
    """Serves pages from a thread of its own."""

    daemon_threads = True

    def __init__(self, port: int, pages: Pages, token: str | None) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.pages = pages
        self.token = token
        self._thread: threading.Thread | None = None

    def server_bind(self) -> None:
        """As the base does it, without asking a name server what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    @property
    def address(self) -> str:
        """Where it answers; with the token, where there is one."""
        own = f"http://{ADDRESS}:{self.server_port}/"
        return own if self.token is None else f"{own}{self.token}/"

    def start(self) -> None:
        self._thread = threading.Thread(target=self.serve_forever, args=(0.2,), name="rlprof-server", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._thread is not None:
            self.shutdown()
            self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One who hangs up in the middle is nothing to be told about."""


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackServer
    timeout = 10  # seconds for a request to come in
    server_version = "rlprof"
    sys_version = ""

    def do_GET(self) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self._send(*refusal)
            return
        page = self.server.pages.get(self._name())
        if page is None:
            self._send(HTTPStatus.NOT_FOUND, Answer("there is nothing here\n"))
            return
        try:
            answer = page()
        except Exception as error:  # what is wrong with a recording is for who looks at it, not for this thread
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, Answer(f"{error}\n"))
            return
        self._send(HTTPStatus.OK, answer)

    def do_HEAD(self) -> None:
        self.do_GET()

    def __getattr__(self, name: str) -> Any:
        """Whatever other method is asked for."""
        if name.startswith("do_"):
            return self._refuse_method
        raise AttributeError(name)

    def _refuse_method(self) -> None:
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, Answer("this can only be read\n"))

    def _refusal(self) -> tuple[HTTPStatus, Answer] | None:
        known = [f"{name}:{self.server.server_port}" for name in (ADDRESS, "localhost")]
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in known:
            return HTTPStatus.MISDIRECTED_REQUEST, Answer("this server has another name\n")
        origins = self.headers.get_all("Origin") or []
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return HTTPStatus.FORBIDDEN, Answer("not for other sites\n")
        token = self.server.token
        if token is not None and not hmac.compare_digest(self._words()[0].encode(), token.encode()):
            return HTTPStatus.FORBIDDEN, Answer("the address is not complete: copy it from the terminal as it is\n")
        return None

    def _words(self) -> tuple[str, str]:
        first, _, rest = self.path.partition("?")[0].removeprefix("/").partition("/")
        return first, rest

    def _name(self) -> str:
        return self._words()[1] if self.server.token is not None else self.path.partition("?")[0].removeprefix("/")

    def _send(self, status: HTTPStatus, answer: Answer) -> None:
        body = answer.body.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not worth a line each."""
