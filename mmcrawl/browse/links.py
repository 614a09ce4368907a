"""Addresses of our own pages."""

from __future__ import annotations

from urllib.parse import urlencode


def address(path: str, **values: object) -> str:
    """Return a path of ours with parameters; those that are None or "" are left out.

    >>> address("/page", url="http://h.test/?a=1&b", n=None)
    '/page?url=http%3A%2F%2Fh.test%2F%3Fa%3D1%26b'
    """
    given = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path
