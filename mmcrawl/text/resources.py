"""Reading the data files that ship with mmcrawl, from a folder or from a zip."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def data_file(*parts: str) -> Traversable:
    """Return the file or folder ``dictionaries/<parts…>``.

    The dictionaries are inside of the package where it is installed, beside it in a source tree.
    """
    package = files("mmcrawl")
    inside = package.joinpath("dictionaries")
    folder = inside if inside.is_dir() else package.parent.joinpath("dictionaries")  # type: ignore[attr-defined]
    return folder.joinpath(*parts)


def data_lines(*parts: str) -> list[str]:
    """Lines of the data file ``dictionaries/<parts…>``, without comments (``#``) and blank lines.

    Raises :class:`FileNotFoundError` when the installation lacks the file.
    """
    text = data_file(*parts).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and line[0] != "#"]


def data_words(*parts: str) -> frozenset[str]:
    """All blank-separated words of a data file."""
    return frozenset(word for line in data_lines(*parts) for word in line.split())
