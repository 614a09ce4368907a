"""Below which names domains are registered: the public suffix list.

The list is the one that tldextract brings along. Nothing is downloaded and nothing is written.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract
    from tldextract.tldextract import ExtractResult


def split_host(host: str) -> ExtractResult:
    """The subdomain, domain and public suffix of a host name; takes any string.

    A port and a user name are left out, as browsers do.

    >>> split_host("www.optics.co.uk:8080").domain
    'optics'
    """
    return _list()(host)


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
