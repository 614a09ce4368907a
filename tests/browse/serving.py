"""Running the application in the tests: in the process, and on a loopback port for browsers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mmcrawl.browse import Context, guarded
from mmcrawl.browse.replay import cdx_routes, memento_routes, replay_routes


def small_app(context: Context) -> ASGIApp:
    """Return what serves archived pages, and an interface: a frame around one."""

    async def home(request: Request) -> Response:
        address = request.query_params.get("at", "")
        assert '"' not in address
        frame = f'<iframe id=frame src="{address}" sandbox="allow-scripts"></iframe>'
        return HTMLResponse(f"<!doctype html><title>interface</title>{frame if address else ''}")

    routes = [
        Route("/", home),
        *replay_routes(context),
        *memento_routes(context),
        *cdx_routes(context),
    ]
    return guarded(Starlette(routes=routes), context)


def free_port() -> int:
    """Return a loopback port that nobody listens on now."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def served(app: ASGIApp, port: int) -> Iterator[str]:
    """Serve an application on a loopback port; gives its origin."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


class Outside:
    """A listener that stands for the outside world.

    Attributes:
        origin: Where it listens.
        paths: What was asked of it; ``connected`` for a connection, even one that asked nothing.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        paths = self.paths

        class Handler(BaseHTTPRequestHandler):
            def setup(self) -> None:
                paths.append("connected")
                super().setup()

            def do_GET(self) -> None:
                paths.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<title>outside</title>")

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
