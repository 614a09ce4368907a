"""Files that a user names to be written: none takes the place of another without being told to."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mmcrawl.errors import MmcrawlError

STANDARD = "-"
"""Standard output."""


class Target(argparse._StoreAction):
    """The action of an option that names a file to write; tests find these options by it."""


def add_target(parser: argparse._ActionsContainer, *flags: str, **options: Any) -> None:
    """Add an option that names a file to write, and `--overwrite` beside it."""
    parser.add_argument(*flags, action=Target, **{"metavar": "FILE"} | options)


def add_overwrite(parser: argparse._ActionsContainer) -> None:
    """Add the option that lets a file be written that is there already."""
    parser.add_argument(
        "--overwrite", action="store_true", help="write a file that is there already anew"
    )


def new_file(
    named: str | None,
    option: str,
    *,
    overwrite: bool,
    is_ours: Callable[[Path], bool] = lambda _: False,
) -> Path | None:
    """Check a file that is to be written, before the work begins; None for standard output.

    An empty file may be written, and what is no file, as ``/dev/null`` or a pipe.

    Args:
        named: As it was typed; None, "" and ``-`` are standard output.
        option: That named it, for messages.
        overwrite: Whether a file that is there may be written anew.
        is_ours: Tells of a file that is there whether the same command made it.

    Raises:
        MmcrawlError: there is one, or it cannot be one.
    """
    if named in (None, "", STANDARD):
        return None
    path = Path(os.path.expanduser(named))
    if path.is_dir():
        raise MmcrawlError(f"{option} {named} is a folder; give the name of a file")
    if not path.absolute().parent.is_dir():
        raise MmcrawlError(f"{option} {named}: there is no folder {path.parent}; make it first")
    there = path.is_file() and path.stat().st_size > 0
    if there and not overwrite and not is_ours(path):
        raise MmcrawlError(
            f"{option} {named} is there already; name another file, or give --overwrite"
        )
    return path


def new_folder(path: Path, option: str, *, overwrite: bool) -> None:
    """Check a folder that files are to be written into; one with files needs `overwrite`.

    Raises:
        MmcrawlError: it holds files, or is none.
    """
    if path.exists() and not path.is_dir():
        raise MmcrawlError(f"{option} {path} is no folder; several pages are written into one")
    if path.is_dir() and not overwrite and any(path.iterdir()):
        raise MmcrawlError(
            f"{option} {path} holds files already; name another folder, or give --overwrite"
        )
