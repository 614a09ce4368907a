"""`scrapy archive verify`: every version of one page is rebuilt."""

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.commands.archive.subcommand import JSON, Options, Subcommand, as_json, print_line
from mmcrawl.errors import StoreError


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Rebuild versions, and compare them with their digests; 1 if one is damaged."""
    url = archive.get(options.args[0]).url
    damaged = 0
    for version in archive.versions(url):
        try:
            archive.rebuild(version)
            wrong = ""
        except StoreError as error:
            wrong, damaged = str(error), damaged + 1
        if options[JSON]:
            facts = {"url": url, "number": version.number, "digest": version.digest}
            print(as_json(facts | {"size": version.size, "wrong": wrong}))
            continue
        said = (wrong, "bold red") if wrong else ("is as it was received", "green")
        line = f"{version.number:>5}  {as_text(version.time):<23} {version.size:>11,}  "
        print_line(console, Text.assemble(line, (version.digest[:12], "dim"), "  ", said))
    return 1 if damaged else 0


VERIFY = Subcommand(
    "verify", _run, "rebuild every version of a page; exit code 1 if one is damaged", "URL", (1, 1)
)
