"""Running the application in the tests: in the process, and on a loopback port for browsers."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mmcrawl.browse import Context, guarded, problem_handlers
from mmcrawl.browse.replay import cdx_routes, memento_routes, replay_routes
from tests.serving import Answer, Server
from tests.serving import Request as HttpRequest
from tests.waiting import HANG


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
    return guarded(Starlette(routes=routes, exception_handlers=problem_handlers()), context)


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
        thread.join(HANG)


class Outside(Server):
    """A listener that stands for the outside world.

    Attributes:
        paths: What was asked of it; ``connected`` for a connection, even one that asked nothing.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        super().__init__(self._answer, connected=lambda: self.paths.append("connected"))

    def _answer(self, request: HttpRequest) -> Answer:
        self.paths.append(request.path)
        # A connection that is kept would serve the next page as well, unseen.
        return Answer("<title>outside</title>", headers={"Connection": "close"})
