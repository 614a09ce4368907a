"""How long a stored web waits before it answers, so that slow hosts can be studied."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mmcrawl.errors import WebError


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from request to answer: one number for all hosts, others for some of them.

    >>> Latency.parse('{"slow.test": 900, "*": 20}').seconds("slow.test")
    0.9
    """

    default: float = 0.0
    by_host: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, value: object) -> "Latency":
        """Read a setting: a number of milliseconds, or host → milliseconds as a mapping or JSON.

        The host `*` stands for all that are not named. None and an empty string mean no latency.

        Raises:
            WebError: The value is neither, or a number is negative or not finite.
        """
        if isinstance(value, str):
            value = _from_json(value)
        if value is None:
            return cls()
        if isinstance(value, Mapping):
            hosts = {str(host).lower(): _milliseconds(ms) for host, ms in value.items()}
            return cls(hosts.pop("*", 0.0), MappingProxyType(hosts))
        return cls(_milliseconds(value))

    def seconds(self, host: str) -> float:
        """How long `host` (in lower case, with its port if it has one) takes to answer."""
        return self.by_host.get(host, self.default) / 1000


def _from_json(text: str) -> object:
    if not text.strip():
        return None
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise _wrong(text) from error
    return value


def _milliseconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(value)
    if not math.isfinite(value) or value < 0:
        raise _wrong(value)
    return float(value)


def _wrong(value: object) -> WebError:
    return WebError(
        f"{value!r} is no latency: give milliseconds as a number, or as JSON per host"
        ' (\'{"slow.test": 900, "*": 20}\').'
    )
