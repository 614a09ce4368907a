"""What is done to the tables of an archive, in a file or on a server."""

from typing import Any

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
