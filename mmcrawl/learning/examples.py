"""The pages that a user names as examples: addresses in an archive, files, folders, and lists."""

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlsplit

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Version
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.topic.loading import decode

_PAGES = frozenset({".htm", ".html", ".xhtml", ".shtml", ".asp", ".aspx", ".php", ".jsp"})
_LISTS = frozenset({".txt", ".lst", ".list", ".urls", ".csv"})
_LARGEST_LIST = 4 << 20  # bytes
_LARGEST_PAGE = 16 << 20
_MOST_PAGES = 5_000  # of a folder
_LOOKED_AT = 200_000  # addresses of an archive that pages are drawn from


@dataclass(frozen=True, slots=True)
class Example:
    """A page that is named as an example.

    Attributes:
        name: Its address in the archive, or the path of its file.
        site: Host or folder it is of: pages of one site are alike, so that what was learnt is
            tried on other sites.
        page: The page, parsed.
    """

    name: str
    site: str
    page: Page = field(repr=False)

    @property
    def likeness(self) -> tuple[str, str]:
        """What two copies of a page have in common."""
        return self.page.title, self.page.text


@dataclass(slots=True)
class Examples:
    """What was read.

    Attributes:
        pages: The pages, each once.
        problems: What could not be had, a sentence each.
    """

    pages: list[Example] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def names(self) -> tuple[str, ...]:
        """Return the names of the pages."""
        return tuple(example.name for example in self.pages)


def read_examples(named: Iterable[str], archive: Archive | None) -> Examples:
    """Return the pages that a user names.

    Args:
        named: Addresses in the archive; files of HTML; folders with such files, also those below;
            text files with one of these a line (what follows ``#`` after a blank is a comment).
        archive: Where addresses are looked up; None if there is none.

    Raises:
        MmcrawlError: a file or folder is not there, or cannot be read.
    """
    found = Examples()
    names: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for entry in named:
        for name in _entries(entry):
            if name in names:
                continue
            names.add(name)
            try:
                example = _archived(name, archive) if is_address(name) else _of_file(Path(name))
            except MmcrawlError as error:
                found.problems.append(str(error))
                continue
            if example.likeness not in seen:
                seen.add(example.likeness)
                found.pages.append(example)
    return found


def is_address(name: str) -> bool:
    """Return whether a name is that of a page on the web rather than of a file."""
    return name.lower().startswith(("http://", "https://"))


def sampled(
    archive: Archive, most: int, seed: int = 0, without: Iterable[str] = ()
) -> Iterator[Example]:
    """Yield pages of an archive drawn by chance, the last version of each.

    Args:
        archive: Where they are.
        most: How many at most.
        seed: Of the chance.
        without: Addresses that are left out.
    """
    left_out = set(without)
    urls = [url for url in islice(archive.urls(), _LOOKED_AT) if url not in left_out]
    random.Random(seed).shuffle(urls)  # noqa: S311 - no secret
    drawn = 0
    for url in urls:
        if drawn >= most:
            return
        try:
            example = _of_version(archive.get(url), archive)
        except (MmcrawlError, ValueError):
            continue  # of an archive some pages may be damaged; others are as good
        if example is not None and example.page.text:
            drawn += 1
            yield example


def _entries(entry: str) -> Iterator[str]:
    """Yield the addresses and paths of pages that an entry stands for."""
    if is_address(entry):
        yield entry
        return
    path = Path(os.path.expanduser(entry))
    if path.is_dir():
        yield from _of_folder(path)
    elif not path.is_file():
        raise MmcrawlError(
            f"there is no file or folder {entry}; give one, or an address with http://"
        )
    elif path.suffix.lower() in _LISTS:
        yield from _of_list(path)
    else:
        yield str(path)


def _of_folder(folder: Path) -> Iterator[str]:
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _PAGES)
    files = [path for path in found if path.is_file()]
    if not files:
        raise MmcrawlError(f"folder {folder} holds no pages: no file that ends as .html")
    if len(files) > _MOST_PAGES:
        raise MmcrawlError(f"folder {folder} holds more than {_MOST_PAGES:,} pages; name fewer")
    yield from map(str, files)


def _of_list(path: Path) -> Iterator[str]:
    try:
        if path.stat().st_size > _LARGEST_LIST:
            raise MmcrawlError(f"{path} is too large for a list of pages")
        lines = decode(path.read_bytes(), str(path)).splitlines()
    except OSError as error:
        raise MmcrawlError(f"{path} cannot be read: {error.strerror}") from error
    for line in lines:
        text = line.partition(" #")[0].strip()
        if not text or text.startswith("#"):
            continue
        beside = path.parent / os.path.expanduser(text)
        if is_address(text):
            yield text
        elif beside.is_dir():
            yield from _of_folder(beside)
        else:
            yield str(beside)


def _archived(url: str, archive: Archive | None) -> Example:
    if archive is None:
        raise MmcrawlError(
            f"{url}: no archive is named to look it up in; give --store or --archive"
        )
    try:
        example = _of_version(archive.get(url), archive)
    except StoreError as error:
        raise MmcrawlError(f"{url} is not in the archive") from error
    if example is None:
        raise MmcrawlError(f"{url} is no page of HTML")
    return example


def _of_version(version: Version, archive: Archive) -> Example | None:
    if not version.method or version.size > _LARGEST_PAGE:
        return None
    body = archive.rebuild(version).body
    page = parse_page(body, version.url, version.content_type or version.header("content-type"))
    return Example(version.url, urlsplit(version.url).netloc.lower(), page)


def _of_file(path: Path) -> Example:
    try:
        if path.stat().st_size > _LARGEST_PAGE:
            raise MmcrawlError(f"{path} is too large for a page")
        body = path.read_bytes()
    except OSError as error:
        raise MmcrawlError(f"{path} cannot be read: {error.strerror}") from error
    if not body.strip():
        raise MmcrawlError(f"{path} is empty")
    if b"\0" in body[:1_000] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MmcrawlError(f"{path} is no page of HTML")
    host, below = _host_in(path.parts)
    page = parse_page(body, f"http://{host or 'localhost'}/{quote('/'.join(below))}")
    return Example(str(path), host or str(path.parent), page)


def _host_in(parts: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the host whose pages a folder holds, as ``wget -m`` writes them; "" if none does."""
    for number, part in enumerate(parts[:-1]):
        name, dot, ending = part.rpartition(".")
        if dot and name and ending.isalpha() and len(ending) > 1 and part.isascii():
            return part.lower(), parts[number + 1 :]
    return "", parts[-1:]
