"""What can be wrong with a request, as it is told to the reader."""

from __future__ import annotations


class Problem(Exception):  # noqa: N818 - it is an answer, not a fault
    """Raised by a handler; the application shows it as a page with the right status.

    Args:
        status: HTTP status: 400, 404, 413, 503, 504, …
        name: of the sentences to show, ``problem.NAME`` and ``problem.NAME.do`` in
            :mod:`mmcrawl.browse.words`.
        values: what these sentences name; may hold anything, it is shown as text.
    """

    def __init__(self, status: int, name: str, /, **values: object) -> None:
        super().__init__(name)
        self.status = status
        self.name = name
        self.values = values


def not_stored(url: str) -> Problem:
    """Return what is told of a URL that the archive does not hold."""
    return Problem(404, "url", url=url)
