"""Reading the data files that ship in the ``dictionaries`` package, from a folder or from a zip."""

from importlib.resources import files

__all__ = ["data_lines", "data_words"]


def data_lines(*parts: str) -> list[str]:
    """Lines of the data file ``dictionaries/<parts…>``, without comments (``#``) and blank lines.

    Raises :class:`FileNotFoundError` when the installation lacks the file.
    """
    text = files("dictionaries").joinpath(*parts).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and line[0] != "#"]


def data_words(*parts: str) -> frozenset[str]:
    """All blank-separated words of a data file."""
    return frozenset(word for line in data_lines(*parts) for word in line.split())
