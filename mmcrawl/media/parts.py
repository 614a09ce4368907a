"""The further files that a file of the collection needs: those an animation loads or a list names.

Only files of the same site are fetched: the registered domain of the animation or of its page. An
animation loads most files from the folder of its page, and some from its own folder: both are
tried, and a file found in neither is reported as missing.
"""

import logging
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import mkstemp
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from mmcrawl.errors import MediaError, StoreError
from mmcrawl.frontier.urls import host_of
from mmcrawl.media.files import FolderFiles, MediaFiles, open_files
from mmcrawl.media.index import PART, MediaFile, MediaIndex, State
from mmcrawl.media.swf import addresses_in_text, read_swf
from mmcrawl.page.urls import absolute_url
from mmcrawl.store.uris import file_of, is_server
from mmcrawl.text.resources import split_host

_BESIDE = "-media"


@dataclass(frozen=True, slots=True)
class Collection:
    """The downloaded media of a crawl. A context manager."""

    name: str
    folder: Path
    index: MediaIndex
    files: MediaFiles

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.index.close()

    @property
    def partial(self) -> Path:
        return self.folder / "partial"


def open_collection(store: str, media: str | None, *, create: bool = True) -> Collection:
    """Open the collection of a crawl."""
    folder = folder_of(store, media)
    place = media if media is not None and "://" in media else str(folder)
    return Collection(place, folder, MediaIndex(store, folder, create=create), open_files(place))


def folder_of(store: str, media: str | None) -> Path:
    """Return the folder of a crawl's collection: works, and all but files of a remote store."""
    is_url = media is not None and "://" in media
    return media_beside(store) if media is None or is_url else Path(media).expanduser()


def media_beside(store: str) -> Path:
    """Return the folder that belongs to a crawl's store.

    >>> str(media_beside("sqlite:///crawls/crawl.db"))
    'crawls/crawl-media'
    """
    if is_server(store):
        return Path(urlsplit(store).path.strip("/") + _BESIDE)
    path = Path(file_of(store))
    if not path.name:
        raise StoreError("media of a crawl in memory cannot be kept; name a store, as crawl.db")
    return path.with_name(path.stem + _BESIDE)


_WIDTH = 480  # pixels
_MOST_PIXELS = 36_000_000  # of a picture of a film: 8K has 33 million
# Of 50 pictures the most usual one, which are held meanwhile: small, whatever the film's shape.
_SMALL = (
    f"scale={_WIDTH}:{2 * _WIDTH}:force_original_aspect_ratio=decrease:force_divisible_by=2,"
    "thumbnail=50"
)
_SECONDS = 10  # until ffmpeg is given up
_FORMATS = "mov,matroska,avi,flv,asf,mpeg,mpegts,ogg,rm,mp3,flac"
"""That ffmpeg may read: no playlists, which would lead it to other files."""


def has_pictures() -> bool:
    return shutil.which("ffmpeg") is not None


def picture_of(collection: Collection, digest: str) -> Path | None:
    """Return a JPEG picture of a film, None if none can be taken."""
    place = collection.folder / "pictures" / f"{digest}.jpg"
    if not place.exists():
        if not isinstance(collection.files, FolderFiles):
            return None
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            take_picture(collection.files.path(digest), place)
        except OSError:  # there is no room for pictures, or they may not be written
            return None
    return place if place.exists() and place.stat().st_size else None


def take_picture(film: Path, place: Path, begin: float = 0.0) -> None:
    """Write a JPEG of a film from `begin` seconds on, or a sound's cover; empty if none."""
    if not has_pictures():
        return
    handle, name = mkstemp(suffix=".jpg", dir=place.parent)
    part = Path(name)
    try:
        with open(handle, "wb"), suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(  # noqa: S603
                [
                    *("ffmpeg", "-nostdin", "-v", "error", "-y"),
                    *("-protocol_whitelist", "file", "-format_whitelist", _FORMATS),
                    *("-max_pixels", f"{_MOST_PIXELS}", "-ss", f"{begin:.1f}"),
                    *("-i", f"file:{film}", "-frames:v", "1", "-vf", _SMALL, "-f", "image2", name),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        part.chmod(0o644)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


logger = logging.getLogger(__name__)

SWF = "application/x-shockwave-flash"
_LISTS = frozenset({"text/xml", "application/xml", "application/json", "text/plain"})
_MOST = 200  # files that one names
DEEPEST = 5
"""Files that name each other."""
_LONGEST_LIST = 1 << 20  # bytes


def parts_to_fetch(file: MediaFile, files: MediaFiles, index: MediaIndex) -> list[MediaFile]:
    if depth_of(file, index) >= DEEPEST:
        return []
    return [
        MediaFile(place, PART, parent=file.url, page=file.page, added_at=file.changed_at)
        for _, places in named_in(file, files)
        for place in places
    ]


class HeldPart(NamedTuple):
    """A file that another one needs and that is held."""

    name: str
    url: str
    digest: str
    mime: str


def held_parts(url: str, files: MediaFiles, index: MediaIndex) -> list[HeldPart]:
    """Return the files that a file needs, directly or not, and those held; each name once."""
    file = index.find(url)
    waiting = [file] if file is not None and file.state is State.HELD else []
    found: dict[str, HeldPart] = {}
    seen = {url}
    for one in waiting:
        for name, places in named_in(one, files):
            there = (index.find(place) for place in places)
            part = next((each for each in there if each and each.state is State.HELD), None)
            if part is None:
                continue
            found.setdefault(name, HeldPart(name, part.url, part.digest, part.content_type))
            if part.url not in seen:
                seen.add(part.url)
                waiting.append(part)
    return [*found.values()]


def named_in(file: MediaFile, files: MediaFiles) -> list[tuple[str, tuple[str, ...]]]:
    """Return the files that a file which is held names, and the addresses each may have."""
    is_list = file.kind == PART and file.content_type in _LISTS and file.size <= _LONGEST_LIST
    if file.content_type != SWF and not is_list:
        return []
    with files.open(file.digest) as content:
        try:
            names = addresses_in_text(content.read()) if is_list else read_swf(content).addresses
        except MediaError as error:
            logger.info("%s: %s", file.url, error)
            return []
    named = ((name, _places(name, file)) for name in names)
    return [*islice((one for one in named if file.url not in one[1]), _MOST)]


def _places(name: str, file: MediaFile) -> tuple[str, ...]:
    """Return the addresses of the same site that a name may mean."""
    bases = [base for base in (file.page, file.final_url or file.url) if base]
    sites = {_site(base) for base in bases}
    places: dict[str, None] = {}
    for base in bases:
        url = (absolute_url(base, name) or "").partition("#")[0]
        if url.startswith(("http://", "https://")) and _site(url) in sites:
            places[url] = None
    return tuple(places)


def _site(url: str) -> str:
    host = host_of(url)
    parts = split_host(host)
    return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else host


def depth_of(file: MediaFile, index: MediaIndex) -> int:
    """Return how many files name one another down to this one."""
    depth = 0
    above: MediaFile | None = file
    while above is not None and above.parent and depth < DEEPEST:
        depth += 1
        above = index.find(above.parent)
    return depth
