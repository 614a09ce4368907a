"""From what a user types to a stored web."""

from pathlib import Path

from mmcrawl.errors import WebError
from mmcrawl.replay.demo import DemoWeb
from mmcrawl.replay.folder import FolderWeb
from mmcrawl.replay.warc import WarcWeb
from mmcrawl.replay.web import StoredWeb

__all__ = ["open_web"]

WARC_SUFFIXES = (".warc", ".warc.gz")
WHAT_IT_CAN_BE = (
    "give 'demo', a folder with one folder per host, or a .warc or .warc.gz file (or a folder of"
    " them)"
)


def open_web(spec: str) -> StoredWeb:
    """Open the stored web that `spec` names.

    Parameters
    ----------
    spec
        `demo`; the path of a folder that has one folder per host (see `FolderWeb`); the path of a
        `.warc` or `.warc.gz` file, or of a folder that holds only such files (see `WarcWeb`).

    Raises
    ------
    WebError
        Nothing is there, or it is none of these, or it cannot be read.
    """
    if spec == "demo":
        return DemoWeb()
    path = Path(spec).expanduser()
    try:
        if spec and path.is_dir():
            return _open_folder(path)
        if path.is_file() and _is_warc(path):
            return WarcWeb((path,))
        found = bool(spec) and path.exists()
    except (OSError, ValueError) as error:
        raise WebError(f"The stored web {spec!r} cannot be read: {error}.") from error
    state = "is no stored web" if found else "does not exist"
    raise WebError(f"{spec!r} {state}: {WHAT_IT_CAN_BE}.")


def _open_folder(path: Path) -> StoredWeb:
    entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    if not entries:
        raise WebError(f"The folder '{path}' is empty: {WHAT_IT_CAN_BE}.")
    if all(entry.is_file() and _is_warc(entry) for entry in entries):
        return WarcWeb(tuple(entries))
    return FolderWeb(path)


def _is_warc(path: Path) -> bool:
    return path.name.lower().endswith(WARC_SUFFIXES)
