"""Small pictures of films that are kept, taken by ffmpeg where it is installed, once."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from mmcrawl.collecting.files import FolderFiles
from mmcrawl.collecting.opening import Collection

_WIDTH = 320  # pixels
_SECONDS = 10  # until ffmpeg is given up
_FORMATS = "mov,matroska,avi,flv,asf,mpeg,mpegts,ogg,rm"
"""That ffmpeg may read: no playlists, which would lead it to other files."""


def has_pictures() -> bool:
    """Tell whether pictures can be taken here."""
    return shutil.which("ffmpeg") is not None


def picture_of(collection: Collection, digest: str) -> Path | None:
    """Return a JPEG picture of a film, None if none can be taken.

    Args:
        collection: That keeps the film, in a folder: of a store elsewhere there are no pictures.
        digest: Of the film.
    """
    place = collection.folder / "pictures" / f"{digest}.jpg"
    if not place.exists():
        if not isinstance(collection.files, FolderFiles) or not has_pictures():
            return None
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            _take(collection.files.path(digest), place)
        except OSError:  # there is no room for pictures, or they may not be written
            return None
    return place if place.stat().st_size else None


def _take(film: Path, place: Path) -> None:
    """Take a picture; an empty file says that there is none."""
    handle, name = mkstemp(suffix=".jpg", dir=place.parent)
    part = Path(name)
    try:
        with open(handle, "wb"), suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(  # noqa: S603
                [
                    *("ffmpeg", "-nostdin", "-v", "error", "-y"),
                    *("-protocol_whitelist", "file", "-format_whitelist", _FORMATS),
                    *("-i", str(film), "-frames:v", "1"),
                    *("-vf", f"thumbnail=50,scale={_WIDTH}:-2", "-f", "image2", name),
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
