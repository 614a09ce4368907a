"""`scrapy archive purge`: versions are removed for good."""

from dataclasses import asdict

from rich.console import Console
from scrapy.exceptions import UsageError

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.commands.archive.search import forget_purged
from mmcrawl.commands.archive.subcommand import (
    BEFORE,
    HOST,
    JSON,
    URL,
    YES,
    Options,
    Subcommand,
    agreed,
    as_json,
)
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.terminal.crawl import size_of


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Remove versions, after asking."""
    url, host, before = options[URL], options[HOST], options[BEFORE]
    what = url or (f"host {host}" if host else "the whole archive")
    if url:
        archive.get(url)
    elif host and host not in archive.hosts():
        raise StoreError(f"no page is of host {host}")
    older = f" that were replaced before {as_text(before)}" if before else ""
    if not options[YES] and not agreed(f"Remove all versions of {what}{older} for good?"):
        raise MmcrawlError("nothing was removed; say --yes to remove without being asked")
    purged = archive.purge(url=url, host=host, before=before)
    forget_purged(archive, options.uri)
    if options[JSON]:
        print(as_json(asdict(purged)))
    else:
        console.print(
            f"{purged.versions:,} versions and {purged.visits:,} visits removed,"
            f" {size_of(purged.freed_bytes)} given back"
        )
    return 0


def _check(options: Options) -> None:
    if options[HOST] is None and options[URL] is None and options[BEFORE] is None:
        raise UsageError("say what to remove: --host, --url, --before")


PURGE = Subcommand(
    "purge",
    _run,
    "remove versions for good",
    "--host H|--url URL [--before T] [--yes]",
    options=(HOST, URL, BEFORE, YES, JSON),
    check=_check,
    writes=True,
)
