"""The pages that a user gives as examples: addresses in an archive, files, folders, and lists."""

import math
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlsplit

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Version
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.scoring.page_features import page_texts
from mmcrawl.text.segmentation import segment
from mmcrawl.text.words import has_han, is_stop_word, stem, unify
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
        site: Host or folder it is of: pages of one site are alike, so that what was learnt is
            tried on other sites.
    """

    name: str  # its address in the archive, or the path of its file
    site: str
    page: Page = field(repr=False)

    @property
    def likeness(self) -> tuple[str, str]:
        """What two copies of a page have in common."""
        return self.page.title, self.page.text


@dataclass(slots=True)
class Examples:
    pages: list[Example] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def names(self) -> tuple[str, ...]:
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


_LONGEST = 20_000  # characters of a text
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SHORTEST, _LONGEST_WORD = 3, 40  # letters
_LEAST_SHARE = 0.1  # of the good pages
_LEAST_RATIO = 0.8  # of the logarithms of the odds: 2.2 times as often
_WHOLE_PHRASE = 0.8  # of the pages with a word have the phrase, which is then shown alone
_NOT_READ = frozenset({"url", "anchors"})
_ALIKE = 4  # pages of a site, from which on lines that most of them share are its own, not theirs


@dataclass(frozen=True, slots=True)
class TellingWord:
    """A word or phrase that tells good pages from bad ones.

    Attributes:
        good, bad: On how many of the good and of the bad pages it stands.
        score: By which words are ordered: the weightiest stand on many good pages, and seldom on
            bad ones.
    """

    word: str  # as it is written most often
    good: int
    bad: int
    score: float


def telling_words(
    good: Sequence[Example], bad: Sequence[Example], most: int = 30, known: Collection[str] = ()
) -> list[TellingWord]:
    """Return the words that distinguish good pages from bad ones, the weightiest first.

    Each word is told by the difference of its smoothed log-odds (Monroe, Colaresi & Quinn 2008,
    equation 15, over pages instead of tokens), times the share of good pages that hold it. Where
    the good pages are of three sites or more, words of one site only are left out: they are its
    name and its menu. So are lines that stand on more than half of the pages of a site.
    """
    own_lines = _lines_of_sites([*good, *bad])
    written: dict[str, Counter[str]] = defaultdict(Counter)
    sites: dict[str, set[str]] = defaultdict(set)
    on_good, on_bad = Counter[str](), Counter[str]()
    for example in good:
        for key, forms in _words_of(example, own_lines).items():
            on_good[key] += 1
            written[key].update(forms)
            sites[key].add(example.site)
    for example in bad:
        on_bad.update(_words_of(example, own_lines).keys())
    least_sites = 2 if len({example.site for example in good}) > 2 else 1
    least = max(2, math.ceil(_LEAST_SHARE * len(good)))
    left_out = {_key(word) for word in known}
    scores = {}
    for key, count in on_good.items():
        ratio = _log_odds(count, len(good)) - _log_odds(on_bad[key], len(bad))
        if count >= least and ratio >= _LEAST_RATIO and len(sites[key]) >= least_sites:
            scores[key] = ratio * math.sqrt(count / len(good))
    inside = _inside_phrases(scores, on_good)
    keys = sorted(scores.keys() - left_out - inside, key=lambda key: (-scores[key], key))
    return [
        TellingWord(written[key].most_common(1)[0][0], on_good[key], on_bad[key], scores[key])
        for key in keys[:most]
    ]


def suggested_words(
    right: Sequence[str],
    wrong: Sequence[str],
    archive: Archive,
    *,
    pages: int,
    most: int,
    known: Collection[str] = (),
) -> list[TellingWord]:
    """Return the words that distinguish some archived pages from others, the weightiest first.

    Args:
        right, wrong: addresses; without wrong ones, others are drawn by chance.
        pages: how many of each kind are read.
        known: words that are left out.
    """
    good, bad = (read_examples(urls[:pages], archive).pages for urls in (right, wrong))
    return telling_words(good, bad or list(sampled(archive, pages, without=right)), most, known)


def _log_odds(count: int, pages: int) -> float:
    return math.log((count + 0.5) / (pages - count + 0.5))


def _inside_phrases(keys: Iterable[str], counts: Counter[str]) -> set[str]:
    """Return the words that hardly ever stand outside of a phrase, and the phrases' parts."""
    found = set()
    for key in keys:
        words = key.split()
        if len(words) > 1:
            found |= {w for w in words if counts[key] >= _WHOLE_PHRASE * counts[w]}
    return found


def _key(word: str) -> str:
    return " ".join(stem(part) for part in unify(word).lower().split())


def _lines_in(example: Example) -> Iterator[str]:
    for place, text in page_texts(example.page):
        if place not in _NOT_READ:
            yield from text[:_LONGEST].split("\n")


def _lines_of_sites(examples: Iterable[Example]) -> dict[str, set[str]]:
    """Return for each site the lines that are on more than half of its pages."""
    pages, lines = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for example in examples:
        pages[example.site] += 1
        lines[example.site].update(set(_lines_in(example)))
    return {
        site: {line for line, count in lines[site].items() if count > number / 2}
        for site, number in pages.items()
        if number >= _ALIKE
    }


def _words_of(example: Example, own_lines: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the words and phrases of a page: of each stem, the forms it is written in."""
    left_out = own_lines.get(example.site, set())
    found: dict[str, set[str]] = defaultdict(set)
    for line in _lines_in(example):
        for word in _words_in(line) if line not in left_out else ():
            if key := _key(word):
                found[key].add(word)
    return found


def _words_in(text: str) -> Iterator[str]:
    """Yield words in lower case, phrases of two of them, and words of Han characters."""
    if has_han(text):
        yield from (
            word
            for word in segment(text)
            if len(word) > 1 and has_han(word) and not is_stop_word(word)
        )
    before, end = "", -1
    for match in _WORD.finditer(unify(text).lower().replace("’", "'")):
        word = match[0]
        if has_han(word) or not _SHORTEST <= len(word) <= _LONGEST_WORD or is_stop_word(word):
            before = ""
            continue
        yield word
        if before and match.start() == end + 1 and text[end : end + 1] == " ":
            yield f"{before} {word}"
        before, end = word, match.end()
