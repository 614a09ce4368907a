"""Fetching within bounds what players of other sites play."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mmcrawl.collecting.hosted.ytdlp import YtDlp
from mmcrawl.collecting.magic import kind_of
from mmcrawl.collecting.model import MediaFile
from mmcrawl.collecting.sizes import Budget, Room
from mmcrawl.errors import MediaError


@dataclass(slots=True)
class Players:
    """What fetches the media of players, and how much of them.

    Attributes:
        program: fetches one.
        most: bytes of all of them.
        used: bytes of those that are held.
    """

    program: YtDlp
    most: int
    used: int = 0

    def fetch(
        self, file: MediaFile, folder: Path, budget: Budget, is_stopped: Callable[[], bool]
    ) -> tuple[Path, str]:
        """Fetch what a player plays; return where it is, and its MIME type.

        Args:
            file: the record of the player.
            folder: where it comes.
            budget: how much may be kept of all media.
            is_stopped: asked often whether to break off.

        Raises:
            MediaError: it cannot be had, there is no room, or it was stopped.
            OSError: the folder cannot be used.
        """
        folder.mkdir(parents=True, exist_ok=True)
        own = Room(self.most - self.used, f"no room within hosted ({self.most:,} bytes)")
        room = min(budget.room(file.kind, shutil.disk_usage(folder).free), own)
        if room.size <= 0:
            raise MediaError(room.reason, left_out=True)
        path, content_type = self.program.fetch(file.url, folder, room, is_stopped)
        if not kind_of(content_type, file.kind):
            raise MediaError(f"yt-dlp brings {content_type or 'what nothing tells'}, no medium")
        size = path.stat().st_size
        self.used += size
        budget.promise(file.kind, size)
        return path, content_type
