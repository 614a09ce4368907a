"""Reading the data files that ship with mmcrawl, from a folder or a zip; the public suffix list."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract
    from tldextract.tldextract import ExtractResult


def data_file(*parts: str) -> Traversable:
    """Return ``dictionaries/<parts…>``, in the installed package or beside it in a source tree."""
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


# -- the public suffix list -----------------------------------------------------------------------


def split_host(host: str) -> ExtractResult:
    """The subdomain, domain and public suffix of a host name; takes any string.

    A port and a user name are left out, as browsers do.

    >>> split_host("www.optics.co.uk:8080").domain
    'optics'
    """
    return _list()(host)


def site_of(host: str) -> str:
    """The registered domain of a host name; the host itself where there is none.

    >>> site_of("www.optics.co.uk"), site_of("localhost")
    ('optics.co.uk', 'localhost')
    """
    return split_host(host).top_domain_under_public_suffix or host


def is_public_suffix(host: str) -> bool:
    """Whether `host` is a name that strangers share: ``co.uk``, ``github.io``; no cookie's domain.

    >>> is_public_suffix("github.io"), is_public_suffix("optics.co.uk")
    (True, False)
    """
    return not _list()(host, include_psl_private_domains=True).domain


@cache
def _list() -> TLDExtract:
    from tldextract import TLDExtract  # which brings a client of HTTP along, and is slow to load

    return TLDExtract(cache_dir=None, suffix_list_urls=())
