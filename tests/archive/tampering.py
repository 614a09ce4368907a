"""What is done to the tables of an archive, in a file or on a server."""

import random
from typing import Any

from mmcrawl.archive import Archive, Capture

COLUMNS = {
    "url": "key page id host own last seen version at",
    "version": "key time status at",
    "visit": "key url time version status headed",
    "stream": "key id next",
    "segment": "key stream first entries raw level size head data",
    "change": "key kinds",
    "counter": "key next",
}
HARMLESS = {
    ("delete", "change", ""): "found again when it is asked for",
    ("empty", "change", ""): "the same",
    ("change", "segment", "key"): "a name that nothing refers to",
    ("change", "stream", "next"): "numbers that are never given, as of a process that died",
    ("change", "counter", "next"): "the same",
}


def altered(value: Any) -> Any:
    if value is None:
        return "x"
    if value == b"":
        return b"x"
    if isinstance(value, bytes):
        middle = len(value) // 2
        return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
    return value + ("x" if isinstance(value, str) else 1)


HOSTS = "abc"


def body(host: str, n: int) -> bytes:
    noise = [random.Random(f"{host}{n // 2}{k}").randbytes(400).hex() for k in range(6)]
    return "".join(f"<div><p>{host} {n} {part}</p></div>" for part in noise).encode()


def fill(archive: Archive) -> None:
    """Store pages of three hosts: versions, redirects, visits with heads and without, changes."""
    captures = []
    for n in range(6):
        for host in HOSTS:
            headers = (("Content-Type", "text/html"), ("X-Number", str(n)))
            url = f"http://{host}.test/"
            captures.append(Capture(url, body(host, n), float(n), headers=headers))
    for host in HOSTS:
        moved = (("Location", f"http://{host}.test/"),)
        url = f"http://{host}.test/old#top"
        captures.append(Capture(url, b"", 7.0, status=301, headers=moved))
    archive.store_many(captures)
    archive.pack()
    for n, host in enumerate(HOSTS):
        url = f"http://{host}.test/"
        again = Capture(url, body(host, 5), 40.0 + n, headers=(("X-Number", "again"),))
        archive.store(again)
        archive.note_unchanged(url, 50.5 + n)
        archive.changed_kinds(url, [(1, 2), (2, 3)])
    archive.store(Capture("http://a.test/", body("a", 9), 60.0, content_type="text/html"))
