"""`scrapy archive purge`: versions are removed for good."""

from dataclasses import asdict

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.commands.archive.search import forget_purged
from mmcrawl.commands.archive.subcommand import Options, Subcommand, agreed, as_json
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.terminal.crawl import size_of


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Remove versions, after asking."""
    what = options.url or (f"host {options.host}" if options.host else "the whole archive")
    if options.url:
        archive.get(options.url)
    elif options.host and options.host not in archive.hosts():
        raise StoreError(f"no page is of host {options.host}")
    older = f" that were replaced before {as_text(options.before)}" if options.before else ""
    if not options.yes and not agreed(f"Remove all versions of {what}{older} for good?"):
        raise MmcrawlError("nothing was removed; say --yes to remove without being asked")
    purged = archive.purge(url=options.url, host=options.host, before=options.before)
    forget_purged(archive, options.uri)
    if options.json:
        print(as_json(asdict(purged)))
    else:
        console.print(
            f"{purged.versions:,} versions and {purged.visits:,} visits removed,"
            f" {size_of(purged.freed_bytes)} given back"
        )
    return 0


PURGE = Subcommand(
    name="purge",
    run=_run,
    what="remove versions for good",
    arguments="--host H|--url URL [--before T] [--yes]",
    options="host url before yes json",
    writes=True,
)
