"""Writes a ZIM file of a folder: a program of its own, since libzim's licence is the GPL.

    python -m mmcrawl.works.exporting.zim_program PLAN TARGET

PLAN is a JSON file: ``folder``, ``main`` (a path in it), ``language`` (ISO 639-3), ``metadata``,
and ``entries``: path, title and MIME type of each file, those with a title being articles.
"""

import json
import sys
from pathlib import Path
from typing import Any


def main(plan: str, target: str) -> None:
    """Write the file."""
    from libzim.writer import Creator, FileProvider, Hint, Item

    class Entry(Item):  # type: ignore[misc]  # libzim has no types
        def __init__(self, path: str, title: str, mime: str) -> None:
            super().__init__()
            self._path, self._title, self._mime = path, title, mime

        def get_path(self) -> str:
            return self._path

        def get_title(self) -> str:
            return self._title

        def get_mimetype(self) -> str:
            return self._mime

        def get_contentprovider(self) -> Any:
            return FileProvider(folder / self._path)

        def get_hints(self) -> dict[Any, int]:
            return {Hint.FRONT_ARTICLE: bool(self._title), Hint.COMPRESS: "text" in self._mime}

    said = json.loads(Path(plan).read_text(encoding="utf-8"))
    folder = Path(said["folder"])
    creator = Creator(Path(target)).config_indexing(True, said["language"])
    creator.set_mainpath(said["main"])
    with creator:
        creator.add_illustration(48, Path(__file__).with_name("zim.png").read_bytes())
        for name, value in said["metadata"].items():
            creator.add_metadata(name, value)
        for entry in said["entries"]:
            creator.add_item(Entry(*entry))


if __name__ == "__main__":
    main(*sys.argv[1:])
