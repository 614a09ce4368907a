"""Which hosts and addresses are private, and which of those a crawl may ask all the same."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Self
from urllib.parse import urlsplit

_PRIVATE_SUFFIXES = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
# What `is_global` of some or all versions of Python takes for public: protocol assignments, relays
# of 6to4, multicast.
_PRIVATE_IPV4 = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4")))
# All else of IPv6 is no address of a web site: mapped and compatible IPv4, NAT64, site-local …
_PUBLIC_IPV6 = IPv6Network("2000::/3")
# Teredo and its neighbours, documentation, 6to4: the middle one and the last may hold any IPv4
# address, and are nobody's public web site.
_PRIVATE_IPV6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_DEFAULT_PORTS = {"http": 80, "https": 443}


@lru_cache(maxsize=16_384)
def host_of(url: str) -> str:
    """Return the host name of a URL in lower case, "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def port_of(url: str) -> int:
    """Return the port that a URL is asked on, 0 where there is none."""
    try:
        parts = urlsplit(url)
        return parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return 0


def is_private_address(address: str) -> bool:
    """Tell whether an IP address is not one of the public internet.

    Private are this machine, local networks, multicast, and IPv6 addresses that stand for IPv4 ones
    (mapped, compatible, NAT64, 6to4).

    Raises:
        ValueError: `address` is no IP address in its usual form.
    """
    ip = ip_address(address)
    if ip.version == 4:
        return not ip.is_global or any(ip in network for network in _PRIVATE_IPV4)
    public = ip in _PUBLIC_IPV6 and ip.is_global
    return not public or any(ip in network for network in _PRIVATE_IPV6)


@lru_cache(maxsize=16_384)
def is_private_host(host: str) -> bool:
    """Tell whether a host name or address is by its form one of a private network.

    What a public name stands for shows when it is resolved; see `is_private_address`.
    """
    host = host.rstrip(".").strip("[]")
    try:
        return is_private_address(host)
    except ValueError:
        pass
    last = host.rpartition(".")[2]
    if last.isdigit() or last.startswith("0x"):
        return True  # odd spellings of IPv4 addresses (127.1, 0x7f000001), which browsers resolve
    return "." not in host or host.endswith(_PRIVATE_SUFFIXES)


@dataclass(frozen=True, slots=True)
class PrivateHosts:
    """The private hosts that may be asked: those a user named, each on the port it was named with.

    Attributes:
        named: host and port of each.
        all: any private host may be asked.
    """

    named: frozenset[tuple[str, int]] = frozenset()
    all: bool = False

    @classmethod
    def of(cls, urls: Iterable[str], *, all: bool = False) -> Self:
        """Return the private hosts that URLs name, http and https on their usual ports as one."""
        usual = frozenset(_DEFAULT_PORTS.values())
        return cls(
            frozenset(
                (host_of(url), port)
                for url in urls
                if is_private_host(host_of(url))
                for port in (usual if port_of(url) in usual else (port_of(url),))
            ),
            all,
        )

    def or_named(self, urls: Iterable[str]) -> "PrivateHosts":
        """Return these and the private hosts that further URLs name."""
        more = PrivateHosts.of(urls).named
        return PrivateHosts(self.named | more, self.all) if more else self

    def may_ask(self, url: str) -> bool:
        """Tell whether a URL may be asked for, as far as its form tells."""
        host = host_of(url)
        return not is_private_host(host) or self.opened(host, port_of(url))

    def opened(self, host: str, port: int) -> bool:
        """Tell whether a host may be asked on a port although its address is private."""
        return self.all or (host, port) in self.named
