"""The download of one file: the request, which responses are accepted, and when it is complete.

Nothing here knows the transport: the caller passes a response to `accept`, its bytes to `write`,
and ends with `finish`. Faults are raised as `MediaError`.

Some hosts offer a simulation as one file that runs offline: a simulation of PhET is one page that
holds everything it needs, and GeoGebra serves the file of a material.
"""

import hashlib
import re
import time
import zlib
from base64 import b64decode
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from mmcrawl.errors import MediaError
from mmcrawl.media.files import Begun, MediaFiles, PartialFile
from mmcrawl.media.index import PART, MediaFile, State
from mmcrawl.media.magic import HEAD, LIST, PLAYLISTS, kind_of, moves, says_no_media, type_of
from mmcrawl.media.sizes import Budget
from mmcrawl.page.headers import NO_CODINGS
from mmcrawl.page.lists.listings import Unpacking
from mmcrawl.page.lists.playlists import is_playlist
from mmcrawl.text.media_kinds import AUDIO, IMAGE_ANIMATION, SIMULATION, VIDEO

Header = Callable[[str], str]
"""Returns a header of an answer, "" where it has none of the name."""

_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")
_DIGEST = re.compile(r"(?:^|,)\s*sha-256=:?([A-Za-z0-9+/=]{43,44}):?", re.IGNORECASE)
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_ARCHIVES = (".gz", ".tgz", ".svgz")
_ARCHIVE_TYPES = frozenset({"application/gzip", "application/x-gzip", "application/x-tgz"})
_LOGIN_FORM = re.compile(
    rb"""<input\s[^<>]{0,500}?type\s*=\s*["']?password"""
    rb"|<title>[^<>]{0,200}?(?:(?:log|sign)[ -]?in|anmelden"
    rb"|\xe7\x99\xbb(?:\xe5\xbd\x95|\xe9\x8c\x84))",  # in Chinese, in UTF-8
    re.IGNORECASE,
)
_LOGIN = re.compile(r"[/.?&=_-](?:log-?[io]n|sign-?in|sso|cas|shibboleth|authenticate)\b", re.I)
_LOOK_AT_DISK = 64 << 20
_PROGRESS = 1 << 20
_HOLLOW = 1 << 20  # bytes of members of gzip in which there is nothing

GEOGEBRA = "application/vnd.geogebra.file"
HTML = "text/html"

_PHET_FILE = re.compile(r"https?://phet\.colorado\.edu/sims/html/[\w-]+/[\w.-]+/[\w-]+\.html")
_PHET_PAGE = re.compile(
    r"https?://phet\.colorado\.edu/(\w\w(?:[_-]\w\w)?)/simulations?/(?!legacy)([a-z][a-z-]+)/?$"
)
_GEOGEBRA = re.compile(
    r"https?://(?:www\.)?geogebra\.org/(?:m|classic|material/(?:iframe|show|simple)/id)/([A-Za-z0-9]+)"
)


@dataclass(slots=True)
class _Expected:
    """The expected type of the bytes when the download is complete."""

    total: int | None = None
    digest: bytes = b""


class Download:
    """An address on its way into the media store.

    Attributes:
        interrupt: aborts the transfer; set by the transport.
        is_stopped: whether it is not to be begun any more.
        is_page: whether a page came instead of a medium.
    """

    def __init__(
        self, file: MediaFile, part: PartialFile, budget: Budget, kinds: Collection[str]
    ) -> None:
        self.file = file
        self.interrupt: Callable[[], object] = lambda: None
        self.is_stopped = False
        self.is_page = False
        self._part = part
        self._budget = budget
        self._kinds = kinds
        self._expected = _Expected()
        self._head = bytearray()
        self._header_type = ""
        self._promised = 0
        self._looked_at = 0
        self._farthest = 0
        self._unpacking: Unpacking | None = None
        self._packed = 0  # bytes that came and were unpacked

    @property
    def is_whole(self) -> bool:
        """Whether all bytes are there, from a former run."""
        begun = self._part.begun
        return begun.complete or (bool(begun.length) and self._part.size == begun.length)

    @property
    def size(self) -> int:
        return self._part.size

    @property
    def is_playlist(self) -> bool:
        """Whether the file names the pieces of a medium; known once it is complete."""
        return self._part.begun.content_type in PLAYLISTS and self.file.kind != PART

    @property
    def is_list(self) -> bool:
        """Whether the file names media; known once it is complete."""
        return self._part.begun.content_type == LIST

    @property
    def declared(self) -> str:
        """The type that the server declared, if this process asked."""
        return self._header_type

    @property
    def content_type(self) -> str:
        """The MIME type of the file, "" before it is known."""
        return self._part.begun.content_type

    @property
    def path(self) -> Path:
        return self._part.path

    @property
    def place(self) -> str:
        """The address it came from: where redirects led to."""
        return self._part.begun.final_url or self.file.url

    @property
    def announced(self) -> int:
        """Bytes that the server said it has, 0 if it did not."""
        return self._part.begun.length or 0

    def conditions(self) -> dict[str, str]:
        """Return the headers of a request for the missing bytes."""
        headers = {"Accept-Encoding": "identity", "Accept": "*/*"}
        validator = self._part.begun.validator
        if self._part.size and validator:
            headers |= {"Range": f"bytes={self._part.size}-", "If-Range": validator}
        return headers

    def accept(self, status: int, header: Header, length: int | None, url: str) -> None:
        """Accept the head of a response.

        Args:
            status: 200 or 206; 416 where the range is not there.
            length: bytes of its body, None where that is not known.

        Raises:
            MediaError: it is not wanted. With `again`, the same request without a range may help.
        """
        self._header_type = header("Content-Type")
        encoding = header("Content-Encoding").strip().lower()
        is_packed = encoding in _PACKED and not self._is_archive(url)
        if encoding not in NO_CODINGS | _PACKED:
            raise MediaError(f"the server sends it compressed ({encoding}) although asked not to")
        if self.file.kind != PART and says_no_media(self._header_type, self.file.kind):
            raise MediaError(f"the server says it is {_shown(self._header_type)}")
        if status == 200:
            self._begin(header, length, url)
            if is_packed:
                self._unpack_what_comes()
        elif is_packed:
            self._part.restart()
            raise MediaError("the server continues with compressed bytes", again=True)
        else:
            self._go_on(status, header, url)
        self._give_back_promise()
        self._make_room(self._expected.total or 0)

    def write(self, data: bytes) -> None:
        """Write bytes. OSError if the disk refuses them."""
        if self._unpacking is None:
            self._take(data)
        else:
            self._packed += len(data)
            if self._packed > _HOLLOW + 2 * self._part.size:  # no bound would end it
                raise MediaError("the server sends it compressed, and next to nothing is in it")
            try:
                for piece in self._unpacking.pieces(data):
                    self._take(piece)
            except zlib.error as error:
                what = "the server sends it compressed, and its bytes are broken"
                raise MediaError(what) from error

    def _take(self, data: bytes) -> None:
        if not self._part.begun.content_type:
            self._head += data
            if len(self._head) < HEAD:
                return
            data = self._judged()
        if self._expected.total is None:
            self._make_room(self._part.size + len(data))
        elif self._part.size - self._looked_at > _LOOK_AT_DISK:
            self._looked_at = self._part.size
            self._refuse_if_no_room(0)
        self._part.write(data)

    def finish(self) -> None:
        """Find out whether all is there and right; the file can be kept afterwards."""
        if self._unpacking is not None and not self._unpacking.is_whole:
            raise MediaError("its compressed bytes end before their end", again=True)
        if not self._part.begun.content_type and not self.is_whole:
            self._part.write(self._judged())
        total, size = self._expected.total, self._part.size
        if not size:
            raise MediaError("it is empty", again=True)
        if total is not None and size != total:
            raise MediaError(f"{size:,} bytes came instead of {total:,}", again=True)
        if self._expected.digest and self._expected.digest.hex() != self._part.digest:
            self._part.restart()
            raise MediaError("its bytes are not those that the server's digest tells", again=True)
        self._part.checkpoint(complete=True)

    def keep(self, files: MediaFiles) -> MediaFile:
        """Put the file into the media store; return its record. May take long."""
        begun = self._part.begun
        if not begun.complete:
            self.finish()
            begun = self._part.begun
        if self._part.path.exists():
            self._part.leave_bytes()
            files.keep(self._part.path, begun.digest)
        elif not files.has(begun.digest, begun.size):
            self._part.restart()
            raise MediaError("the bytes of a former run are gone", again=True)
        file = replace(
            self.file,
            etag=begun.etag,
            last_modified=begun.last_modified,
            final_url=begun.final_url,
        )
        return _held(file, begun.content_type, begun.digest, begun.size)

    def rest(self) -> Path:
        """Keep the complete file where it is; return its path."""
        if not self._part.begun.complete:
            self.finish()
        self._part.close()
        return self._part.path

    def has_come_farther(self) -> bool:
        """Return whether a good deal more has come than when this was asked last."""
        farther = self._part.size >= self._farthest + _PROGRESS
        if farther:
            self._farthest = self._part.size
        return farther

    def stop(self) -> None:
        self.is_stopped = True
        self.interrupt()

    def pause(self) -> None:
        """Keep the partial file for another attempt."""
        self._give_back_promise()
        if self._part.size:
            self._part.close()
        else:
            self._part.remove()

    def forget(self) -> None:
        """Leave nothing on the disk that is in progress."""
        self._part.remove()

    def give_up(self) -> None:
        self._give_back_promise()
        self._part.remove()

    def _begin(self, header: Header, length: int | None, url: str) -> None:
        self._part.restart()
        self._unpacking = None
        self._head.clear()
        self._looked_at = 0
        self._expected = _Expected(length, _sha256(header))
        self._part.note(
            Begun(
                self.file.url,
                length=length,
                etag=header("ETag"),
                last_modified=header("Last-Modified"),
                final_url="" if url == self.file.url else url,
            )
        )

    def _is_archive(self, url: str) -> bool:
        """Whether it is a compressed file itself: servers call its form an encoding, too."""
        path = url.partition("?")[0].lower()
        said = self._header_type.partition(";")[0].strip().lower()
        return path.endswith(_ARCHIVES) or said in _ARCHIVE_TYPES

    def _unpack_what_comes(self) -> None:
        """Unpack bytes as they arrive; what the server declares applies to the packed ones."""
        self._unpacking, self._packed = Unpacking(), 0
        self._expected = _Expected()
        # The partial download could not be continued.
        self._part.note(replace(self._part.begun, length=None, etag="", last_modified=""))

    def _go_on(self, status: int, header: Header, url: str) -> None:
        """Go on where the bytes end, if the answer is of the same file."""
        match = _CONTENT_RANGE.fullmatch(header("Content-Range").strip())
        begun = self._part.begun
        total = int(match[2]) if match and match[2] != "*" else begun.length
        etag = header("ETag")
        if (
            status != 206
            or match is None
            or int(match[1]) != self._part.size
            or (begun.length is not None and total != begun.length)
            or (etag and begun.etag and etag != begun.etag)
        ):
            self._part.restart()
            raise MediaError("the server continues with another file", again=True)
        self._expected = _Expected(total, _sha256(header, of_all=True))

    def _judged(self) -> bytes:
        """Decide what the file is by its first bytes; return them."""
        head = bytes(self._head)
        self._head.clear()
        if not head:
            raise MediaError("it is empty", again=True)
        seen, kind = type_of(head[:HEAD], self._header_type), self.file.kind
        bundle = bundle_of(self.file.url)[1]
        if kind in (AUDIO, VIDEO) and is_playlist(head, self.file.url, self._header_type):
            seen = LIST
        elif kind == PART:
            seen = seen or self._header_type.partition(";")[0].strip() or "application/octet-stream"
        elif bundle and seen in (bundle, "application/zip"):
            seen = bundle
        else:
            self._refuse_if_not_wanted(seen, head)
        if kind == PART and seen == "text/html":
            raise MediaError("it is text/html")
        self._part.note(replace(self._part.begun, content_type=seen))
        return head

    def _refuse_if_not_wanted(self, seen: str, head: bytes) -> None:
        wanted = self.file.kind
        self.is_page = seen == "text/html"
        if self.is_page and wanted == SIMULATION:
            raise MediaError("it is a page, which the archive keeps, and no file", left_out=True)
        if wanted == IMAGE_ANIMATION and not moves(head):
            raise MediaError("it is a picture that does not move", left_out=True)
        kind = kind_of(seen, wanted)
        if not kind:
            said = _shown(self._header_type)
            what = f"it is {seen}" if seen else f"nothing tells what it is; the server says {said}"
            if self.is_page and (_LOGIN_FORM.search(head) or _LOGIN.search(self.place)):
                what = "it is a page that asks to log in"
            raise MediaError(f"{what}, no {wanted}")
        if kind not in self._kinds:
            raise MediaError(f"it is {kind}, which is not wanted", left_out=True)

    def _make_room(self, size: int) -> None:
        """Count bytes against the budget as this file's."""
        if size > self._promised:
            self._refuse_if_no_room(size - self._promised, size)
            self._budget.promise(self.file.kind, size - self._promised)
            self._promised = size

    def _refuse_if_no_room(self, more: int, size: int = 0) -> None:
        reason = self._budget.refusal(self.file.kind, more, size, self._part.free)
        if reason:
            raise MediaError(reason, left_out=True)

    def _give_back_promise(self) -> None:
        self._budget.promise(self.file.kind, -self._promised)
        self._promised = 0


def kept(file: MediaFile, path: Path, content_type: str, files: MediaFiles) -> MediaFile:
    """Put a file built from the download into the media store; return its record."""
    with path.open("rb") as made:
        digest = hashlib.file_digest(made, "sha256").hexdigest()
    size = path.stat().st_size
    files.keep(path, digest)
    return _held(replace(file, etag="", last_modified=""), content_type, digest, size)


def _held(file: MediaFile, content_type: str, digest: str, size: int) -> MediaFile:
    return replace(
        file,
        kind=kind_of(content_type, file.kind) or file.kind,
        state=State.HELD,
        digest=digest,
        size=size,
        content_type=content_type,
        reason="",
        changed_at=time.time(),
    )


def _sha256(header: Header, *, of_all: bool = False) -> bytes:
    """Return the digest of all bytes that an answer tells, b"" for none."""
    names = ("Repr-Digest", "Digest") if of_all else ("Repr-Digest", "Content-Digest", "Digest")
    for name in names:
        if match := _DIGEST.search(header(name)):
            return b64decode(match[1] + "=" * (-len(match[1]) % 4))
    return b""


def _shown(content_type: str) -> str:
    return " ".join(content_type.partition(";")[0].split())[:80] or "nothing of its type"


def bundle_of(url: str) -> tuple[str, str]:
    """Return the address of a file that runs by itself, and its type; "" and "" without one.

    >>> bundle_of("https://phet.colorado.edu/zh_CN/simulations/bending-light")[0]
    'https://phet.colorado.edu/sims/html/bending-light/latest/bending-light_zh_CN.html'
    >>> bundle_of("https://www.geogebra.org/m/a1B2c3")[0]
    'https://www.geogebra.org/material/download/format/file/id/a1B2c3'
    """
    if match := _PHET_FILE.match(url):
        return match[0], HTML
    if match := _PHET_PAGE.match(url):
        language, _, country = match[1].replace("-", "_").partition("_")
        language += f"_{country.upper()}" if country else ""
        return (
            f"https://phet.colorado.edu/sims/html/{match[2]}/latest/{match[2]}_{language}.html",
            HTML,
        )
    if match := _GEOGEBRA.match(url):
        return f"https://www.geogebra.org/material/download/format/file/id/{match[1]}", GEOGEBRA
    return "", ""
