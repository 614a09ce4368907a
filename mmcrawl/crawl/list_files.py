"""Text files that people write, with an entry a line and remarks."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from w3lib.encoding import read_bom

from mmcrawl.errors import MmcrawlError
from mmcrawl.page.encoding import decode_page
from mmcrawl.page.guessed_encoding import BIG5, GB, UTF8

_MOST_PROBLEMS = 20
_TEXT_ENCODINGS = frozenset({UTF8, "utf-16-le", "utf-16-be", GB, BIG5})
_HEAD = 1_024  # bytes that tell a text from a film, before all of it is read

Entry = TypeVar("Entry")


def entries_of(path: Path, what: str, error: type[MmcrawlError]) -> Iterator[tuple[str, list[str]]]:
    """Yield where each entry of a file stands, as "FILE, line N: ", and its words.

    A word that begins with `#` begins a remark. The text is UTF-8, GBK, Big5, or, with a byte order
    mark, UTF-16.

    Args:
        path: of the file.
        what: how messages call it.
        error: what is raised.

    Raises:
        error: it cannot be read, or is no such text.
    """
    for number, line in enumerate(_text_of(path, what, error).splitlines(), 1):
        words = list(_without_remark(line.split()))
        if words:
            yield f"{path}, line {number}: ", words


def checked(
    entries: Iterable[tuple[str, list[str]]],
    what: str,
    error: type[MmcrawlError],
    make: Callable[[str, list[str]], Entry],
) -> list[Entry]:
    """Return what is made of the words of each entry.

    Args:
        entries: where each stands, and its words.
        what: how messages call many of them.
        error: what is raised.
        make: is given both; raises MmcrawlError or ValueError for what is wrong.

    Raises:
        error: some are wrong: the first 20 of them, and where they stand, a line each.
    """
    made, problems = [], []
    for where, words in entries:
        try:
            made.append(make(where, words))
        except (MmcrawlError, ValueError) as wrong:
            problems.append(f"{where}{wrong}")
    if len(problems) > _MOST_PROBLEMS:
        more = len(problems) - _MOST_PROBLEMS
        problems[_MOST_PROBLEMS:] = [f"{more} more {what} are wrong"]
    if problems:
        raise error("\n".join(problems))
    return made


def _text_of(path: Path, what: str, error: type[MmcrawlError]) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD)
            if not _is_binary(data):
                data += file.read()
    except OSError as cause:
        raise error(f"{what} {path} cannot be read: {cause.strerror}") from cause
    if _is_binary(data):
        raise error(f"{path} is no text; give a {what}, one entry a line")
    encoding, utf8 = decode_page(data, None)
    text = utf8.decode("utf-8", "replace")
    if encoding not in _TEXT_ENCODINGS or "\ufffd" in text:
        raise error(f"{what} {path} is not UTF-8, UTF-16 or GBK text; save it as UTF-8")
    return text


def _is_binary(data: bytes) -> bool:
    return b"\0" in data and read_bom(data)[0] is None


def _without_remark(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word.startswith("#"):
            return
        yield word
