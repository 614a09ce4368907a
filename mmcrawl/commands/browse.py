"""`scrapy browse`: the archive in a web browser."""

import argparse
import logging
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from mmcrawl.archive.opening import open_archive
from mmcrawl.commands.base import (
    PLACE,
    THE_DEMO,
    MmcrawlCommand,
    Option,
    archive_params,
    flag,
    ruffle_folder,
    whole,
)
from mmcrawl.crawl.params import DEMO_STORE
from mmcrawl.crawl.spider_params import DEFAULT_STORE
from mmcrawl.errors import MmcrawlError
from mmcrawl.store.uris import as_archive_uri, shown
from mmcrawl.text.writing import program

if TYPE_CHECKING:
    from mmcrawl.browse.context import Options

_NEEDED = ("starlette", "jinja2", "uvicorn")
_OWN_CRAWL = ("crawl.db", "crawl-archive.db")
_DEMO = shown(DEMO_STORE)


class Command(MmcrawlCommand, ScrapyCommand):
    """Show the archive in a web browser."""

    name = "browse"
    working = ""
    interrupted = ""
    details = (
        "Starts a web server on this machine, until Ctrl-C. Other machines reach it only if"
        " --host says so; they need the token that is printed then. Flash animations play if"
        " MMCRAWL_RUFFLE names a folder with the web build of Ruffle (ruffle.js)."
    )
    arguments = PLACE

    options = (
        Option(
            "--port",
            type=partial(whole, least=0, most=65_535),
            default=8000,
            metavar="N",
            help="to listen on (default: 8000; 0: any)",
        ),
        Option("--host", default="127.0.0.1", help="to listen on (default: 127.0.0.1)"),
        flag("--open", "open it in the browser of this machine"),
    )

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise MmcrawlError(f"it needs {', '.join(missing)}: pip install 'mmcrawl[browse]'")
        archive, options = self._options(opts)
        return lambda: _serve(archive, options, in_browser=opts.open)

    def _options(self, opts: argparse.Namespace) -> tuple[str, "Options"]:
        """Return the URI of the archive, and the other choices of the user."""
        from mmcrawl.browse.context import Options
        from mmcrawl.browse.safety import is_loopback

        archive, store = self._places(opts)
        return archive, Options(
            store=store,
            media=self.setting("MMCRAWL_MEDIA"),
            threshold=self.setting("MMCRAWL_TOPIC_THRESHOLD"),
            ruffle=ruffle_folder(self.setting("MMCRAWL_RUFFLE")),
            token="" if is_loopback(opts.host) else secrets.token_urlsafe(18),
            host=opts.host,
            port=opts.port,
        )

    def _places(self, opts: argparse.Namespace) -> tuple[str, str]:
        """Return the URIs of the archive, and of the store of crawls or ""."""
        named = opts.store or opts.archive or self.setting("MMCRAWL_ARCHIVE")
        if not named and not any(map(os.path.exists, _OWN_CRAWL)) and os.path.exists(_DEMO):
            opts.store = DEMO_STORE
            print(THE_DEMO, file=sys.stderr)
        params = archive_params(opts, self.settings)  # type: ignore[arg-type]
        store = params.store or ("" if params.archive else DEFAULT_STORE)
        return params.archive_uri or "", store


def _serve(archive: str, options: "Options", *, in_browser: bool) -> None:
    from mmcrawl.browse.app import create_app, server_of
    from mmcrawl.browse.context import open_context

    logging.basicConfig(level=logging.WARNING, format=f"{program()} browse: %(message)s")
    try:
        with _listener(options.host, options.port) as listener:
            options = replace(options, port=listener.getsockname()[1])
            _begin_here(archive)
            with open_context(archive, options=options) as context:
                address = _address(options)
                print(f"The archive is at {address} until you press Ctrl-C.", flush=True)
                if in_browser:
                    threading.Timer(0.7, webbrowser.open, (address,)).start()
                server_of(create_app(context), context.limits).run(sockets=[listener])
    except KeyboardInterrupt:
        return
    except OSError as error:
        raise MmcrawlError(
            f"cannot listen on {options.host} port {options.port}: {error.strerror or error}; name"
            " another with --host, --port"
        ) from error


def _begin_here(archive: str) -> None:
    """Create an empty archive in a folder without a crawl, if no other one is named."""
    if archive == as_archive_uri(_OWN_CRAWL[1]) and not any(map(os.path.exists, _OWN_CRAWL)):
        open_archive(archive).close()
        print("Nothing was crawled here yet: start a crawl in the browser.", file=sys.stderr)


def _listener(host: str, port: int) -> socket.socket:
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    return socket.create_server((bare, port), family=family, backlog=1024)


def _address(options: "Options") -> str:
    bare = options.host.strip("[]")
    named = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(bare, bare)  # noqa: S104
    shown = f"[{named}]" if ":" in named else named
    query = f"?token={options.token}" if options.token else ""
    return f"http://{shown}:{options.port}/{query}"
