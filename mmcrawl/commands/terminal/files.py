"""Files that a user names: pages to read, singly, in a folder or in WARC files; and files to write,
which replace existing ones only on request.
"""

import argparse
import gzip
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mmcrawl.errors import MmcrawlError
from mmcrawl.page.html.encoding import page_encoding, text_of_utf_32

STANDARD = "-"
"""Names standard input, and standard output."""

_PAGES = (".html", ".htm", ".xhtml", ".shtml", ".html.gz", ".htm.gz")
_WARCS = (".warc", ".warc.gz", ".arc", ".arc.gz", ".wacz")
_SAMPLE = 4096
_LARGEST = 50 << 20  # bytes of a page, unpacked
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_MANY_CONTROLS = 0.03


class NoPageError(MmcrawlError):
    """There is no page at an address or in a file."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """The place of a page, or the page itself."""

    name: str  # what it is called: its path as given, or its address
    path: Path | None = None  # of its file; None where `body` is the page
    body: bytes = b""
    url: str = ""
    content_type: str = ""

    def read(self) -> bytes:
        """Return the page; one that is packed by gzip, unpacked."""
        if self.path is None:
            return self.body
        with self.path.open("rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            source = gzip.GzipFile(fileobj=file) if is_packed else file
            body = source.read(_LARGEST + 1)
        if len(body) > _LARGEST:
            raise MmcrawlError(f"the page is larger than {_LARGEST >> 20} MB")
        return body


def is_address(name: str) -> bool:
    """Whether a name is a web address and no file."""
    return name.lower().startswith(("http://", "https://")) and not os.path.exists(name)


def page_problem(body: bytes, content_type: str = "") -> str:
    """Return what is wrong with a page, "" if it is one."""
    if not body.strip():
        return "the page is empty"
    if page_encoding(body, content_type).startswith("utf-16") or text_of_utf_32(body[:_SAMPLE]):
        return ""
    sample = body[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return "no HTML page: binary data" if controls > _MANY_CONTROLS * len(sample) else ""


class PageFiles:
    """The pages in the files named.

    Attributes:
        single: Whether one page was named, by itself.
        total: How many pages there are; None where that is not known before they are read.
    """

    def __init__(self, names: Sequence[str], url: str, say: Callable[[object], None]) -> None:
        self.problems = 0  # how many things could not be read
        self._url, self._say = url, say
        self._found: list[tuple[str, Path | None]] = []
        for name in names:
            self._found += _found(name)
        warcs = any(_is_warc(path) for _, path in self._found)
        self.single = not warcs and len(names) == 1 and not Path(names[0]).expanduser().is_dir()
        self.total = None if warcs else len(self._found)

    def __iter__(self) -> Iterator[PageFile]:
        for name, path in self._found:
            if path is None:
                yield PageFile(name, body=sys.stdin.buffer.read(), url=self._url)
            elif _is_warc(path):
                yield from self._of_warc(path)
            else:
                yield PageFile(name, path, url=self._url if self.single else "")

    def _of_warc(self, path: Path) -> Iterator[PageFile]:
        from mmcrawl.archive.warc.answers import pages_of

        for page in pages_of(path, self._tell):
            yield PageFile(page.url, None, page.body, page.url, page.media_type)

    def _tell(self, problem: object) -> None:
        self.problems += 1
        self._say(problem)


def _found(name: str) -> list[tuple[str, Path | None]]:
    if name == STANDARD:
        return [(name, None)]
    if not name:
        raise MmcrawlError("the argument is empty; give a file, a folder, or - for standard input")
    path = Path(name).expanduser()
    try:
        if path.is_dir():
            inside = sorted(one for one in path.rglob("*") if _is_page(one) and one.is_file())
            if not inside:
                raise MmcrawlError(f"{name}: no file in it ends in {', '.join(_PAGES + _WARCS)}")
            return [(str(one), one) for one in inside]
        exists = path.exists()
    except OSError as error:
        raise MmcrawlError(f"{name}: {error.strerror}") from error
    if not exists:
        raise MmcrawlError(f"there is no file {name}; give a file, or a URL with http://")
    return [(name, path)]


def _is_page(path: Path) -> bool:
    return path.name.lower().endswith(_PAGES + _WARCS)


def _is_warc(path: Path | None) -> bool:
    return path is not None and path.name.lower().endswith(_WARCS)


# -- files to write -------------------------------------------------------------------------------


class Target(argparse._StoreAction):
    """The action of an option that names a file to write; tests find these options by it."""


def new_file(named: str | None, option: str, *, overwrite: bool) -> Path | None:
    """Check that a file may be written, before the work begins; None for standard output.

    It is new, empty or no file, as a pipe, unless `overwrite`.
    """
    if named in (None, "", STANDARD):
        return None
    path = Path(os.path.expanduser(named))
    if path.is_dir():
        raise MmcrawlError(f"{option} {named} is a folder; give the name of a file")
    if not path.absolute().parent.is_dir():
        raise MmcrawlError(f"{option} {named}: there is no folder {path.parent}; make it first")
    there = path.is_file() and path.stat().st_size > 0
    if there and not overwrite:
        raise MmcrawlError(
            f"{option} {named} is there already; name another file, or give --overwrite"
        )
    return path


def new_folder(path: Path, option: str, *, overwrite: bool) -> None:
    """Check a folder that files are to be written into; one with files needs `overwrite`."""
    if path.exists() and not path.is_dir():
        raise MmcrawlError(f"{option} {path} is not a folder; several pages need one")
    if path.is_dir() and not overwrite and any(path.iterdir()):
        raise MmcrawlError(
            f"{option} {path} holds files already; name another folder, or give --overwrite"
        )
