"""`scrapy browse`: the archive in a web browser."""

import argparse
import logging
import os
import secrets
import socket
import sys
import threading
import webbrowser
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.archive.uris import shown
from mmcrawl.commands.arguments import PLACE, add_arguments, archive_params, read_arguments
from mmcrawl.crawling.params import DEMO_STORE
from mmcrawl.errors import MmcrawlError
from mmcrawl.settings import value_of
from mmcrawl.terminal.program import complain, program

if TYPE_CHECKING:
    from mmcrawl.browse.context import Options

_NEEDED = ("starlette", "jinja2", "uvicorn")
_DEFAULT_STORE = "sqlite:///crawl.db"
_OWN_CRAWL = ("crawl.db", "crawl-archive.db")
_DEMO = shown(DEMO_STORE)
_DEFAULT_REPORTS = "experiment"


class Command(ScrapyCommand):
    """Show the archive in a web browser."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return how the command is used."""
        return "[-a store=URI] [-a archive=URI] [--port N] [--host H] [--open]"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Browse the archive: search, history, differences, media, running crawls"

    def long_desc(self) -> str:
        """Return what is needed for what."""
        return (
            "Starts a web server on this machine, until Ctrl-C. Other machines reach it only if"
            " --host says so; they need the token that is printed then. Flash animations play if"
            " MMCRAWL_RUFFLE names a folder with the web build of Ruffle (ruffle.js)."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        add = parser.add_argument
        add_arguments(parser, PLACE)
        add("--port", default="8000", metavar="N", help="to listen on (default: 8000; 0: any)")
        add("--host", default="127.0.0.1", metavar="H", help="to listen on (default: 127.0.0.1)")
        add("--open", action="store_true", help="open it in the browser of this machine")
        add(
            "--reports",
            action="append",
            default=[],
            metavar="DIR",
            help=f"folder of experiment reports (default: {_DEFAULT_REPORTS}); may be repeated",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve until stopped."""
        if args:
            raise UsageError(f"{args[0]!r} is not understood; all is said with options")
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            self._say(f"it needs {', '.join(missing)}: pip install 'mmcrawl[browse]'", 2)
            return
        try:
            archive, options = self._options(opts)
        except (MmcrawlError, ValueError) as error:
            self._say(error, 2)
            return
        try:
            _serve(archive, options, in_browser=opts.open)
        except MmcrawlError as error:
            self._say(error, 1)
        except OSError as error:
            self._say(
                f"cannot listen on {opts.host} port {opts.port}: {error.strerror or error}; name"
                " another with --host, --port",
                1,
            )
        except KeyboardInterrupt:
            self.exitcode = 0

    def _options(self, opts: argparse.Namespace) -> tuple[str, "Options"]:
        """Return the URI of the archive, and what else the user chose."""
        from mmcrawl.browse.context import Options
        from mmcrawl.browse.safety import is_loopback

        archive, store = self._places(opts)
        return archive, Options(
            store=store,
            reports=_reports(opts.reports),
            ruffle=self._ruffle(),
            token="" if is_loopback(opts.host) else secrets.token_urlsafe(18),
            host=opts.host,
            port=_port(opts.port),
        )

    def _places(self, opts: argparse.Namespace) -> tuple[str, str]:
        """Return the URIs of the archive, and of the store of crawls or ""."""
        read_arguments(opts, PLACE)
        named = opts.store or opts.archive or value_of(self.settings, "MMCRAWL_ARCHIVE")  # type: ignore[arg-type]
        if not named and not any(map(os.path.exists, _OWN_CRAWL)) and os.path.exists(_DEMO):
            opts.store = DEMO_STORE
            print("There is no crawl.db here: this is what the demo found.", file=sys.stderr)
        params = archive_params(opts, self.settings)  # type: ignore[arg-type]
        store = params.store or ("" if params.archive else _DEFAULT_STORE)
        return params.archive_uri or "", store

    def _ruffle(self) -> Path | None:
        named = value_of(self.settings, "MMCRAWL_RUFFLE")  # type: ignore[arg-type]
        if not named:
            return None
        folder = Path(os.path.expanduser(named))
        if not (folder / "ruffle.js").is_file():
            raise ValueError(
                f"MMCRAWL_RUFFLE={named}: there is no ruffle.js; name the folder of its web build"
            )
        return folder

    def _say(self, problem: object, code: int) -> None:
        complain("browse", problem)
        self.exitcode = code


def _serve(archive: str, options: "Options", *, in_browser: bool) -> None:
    """Serve until stopped."""
    from mmcrawl.browse.app import create_app
    from mmcrawl.browse.context import open_context
    from mmcrawl.browse.serving import server_of

    logging.basicConfig(level=logging.WARNING, format=f"{program()} browse: %(message)s")
    with _listener(options.host, options.port) as listener:
        options = replace(options, port=listener.getsockname()[1])
        with open_context(archive, options=options) as context:
            address = _address(options)
            print(f"The archive is at {address} until you press Ctrl-C.", flush=True)
            if in_browser:
                threading.Timer(0.7, webbrowser.open, (address,)).start()
            server_of(create_app(context), context.limits).run(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    return socket.create_server((bare, port), family=family, backlog=1024)


def _address(options: "Options") -> str:
    """Return where a reader finds it."""
    bare = options.host.strip("[]")
    named = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(bare, bare)  # noqa: S104
    shown = f"[{named}]" if ":" in named else named
    query = f"?token={options.token}" if options.token else ""
    return f"http://{shown}:{options.port}/{query}"


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:6]) <= 65_535):
        raise ValueError(f"--port {text}: give a whole number from 0 to 65535")
    return int(text)


def _reports(given: list[str]) -> tuple[Path, ...]:
    folders = tuple(Path(os.path.expanduser(name)) for name in given or [_DEFAULT_REPORTS])
    for name, folder in zip(given, folders, strict=False):
        if not folder.is_dir():
            raise ValueError(f"--reports {name}: there is no such folder")
    return folders
