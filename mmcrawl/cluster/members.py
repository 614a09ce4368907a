"""Who works on a crawl, who has which part, and what follows from that for each of them.

Every worker writes one document about itself each second, its *sign*, and reads those of the
others. Nobody decides for others: from the same signs all come to the same answers. A part that
nobody has goes to the worker that its number and their names choose; a worker with more to do than
another gives it parts. What two may want at the same time is decided by the log of the part.

Clocks are not compared: a worker is alive as long as its signs change, by the clock of who looks.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from mmcrawl.cluster.places import Rules
from mmcrawl.cluster.store import Row, SharedStore

_LAST_TERM = (1 << 16) - 2  # that a sign tells; all after it are this one
_MORE = 2  # parts with something to do that a worker has more than another before it gives some
_UNEVEN = 0.1  # share of its parts, likewise, of those with nothing to do


@dataclass(slots=True)
class Sign:
    """What a worker tells of itself.

    Attributes:
        number: counts its signs.
        parts: those it has, each with the term of its log.
        active: how many of these have something to do.
        gives: parts it gave up, by the name of the worker that is to have them, with their terms.
        aside: parts it has that cannot be read.
        pages: crawled in its parts.
        counted: all it was told is in what it tells of its parts.
        crawled: pages it has crawled itself.
        idle: it has nothing to do and nothing under way.
        left_alone: what waits in its parts is of hosts that are left alone.
        activity: grows with all that it does.
        round: of the budget.
        unused: pages that it may still fetch in the round.
        gone: it has left.
        learnt: changes when what it learnt can be read anew.
        moved: hosts of seeds and the hosts they redirect to.
        lag: seconds for which the oldest of its reports has been waiting to be written.
        under_way: links it is fetching.
        totals: as plain data, of its parts.
        errors: links that ended in error, by reason.
        silent: why seeds of its parts gave neither a link nor a medium.
        has_found: anything in its parts did.
        beat: how often it has repeated this one, in the midst of something long.
    """

    number: int = 0
    parts: dict[int, int] = field(default_factory=dict)
    active: int = 0
    gives: dict[str, dict[int, int]] = field(default_factory=dict)
    aside: list[int] = field(default_factory=list)
    pages: int = 0
    counted: bool = False
    crawled: int = 0
    idle: bool = False
    left_alone: bool = False
    activity: int = 0
    round: int = 0
    unused: int = 0
    gone: bool = False
    learnt: str = ""
    moved: list[tuple[str, str]] = field(default_factory=list)
    lag: float = 0.0
    under_way: int = 0
    totals: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    has_found: bool = False
    beat: int = 0

    def term(self, part: int) -> int:
        """Return the last term in which it has or gives a part, -1 for none."""
        return max(parts.get(part, -1) for parts in (self.parts, *self.gives.values()))

    def encode(self) -> str:
        """Return it as text."""
        plain = asdict(self)
        terms = np.zeros(max(self.parts, default=-1) + 1, dtype="<u2")
        for part, term in self.parts.items():
            terms[part] = min(term, _LAST_TERM) + 1
        plain["parts"] = b64encode(zlib.compress(terms.tobytes(), 1)).decode()
        return json.dumps(plain, ensure_ascii=False)

    @classmethod
    def decode(cls, text: str) -> Sign:
        """Return what `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        try:
            plain = json.loads(text)
            terms = np.frombuffer(zlib.decompress(b64decode(plain["parts"])), dtype="<u2")
            plain["parts"] = {int(part): int(terms[part]) - 1 for part in np.flatnonzero(terms)}
            plain["gives"] = {
                str(name): {int(part): int(term) for part, term in parts.items()}
                for name, parts in plain["gives"].items()
            }
            plain["moved"] = [(str(host), str(target)) for host, target in plain["moved"]]
            kinds = {one.name: type(getattr(cls(), one.name)) for one in fields(cls)}
            if wrong := [name for name, kind in kinds.items() if not isinstance(plain[name], kind)]:
                raise ValueError(f"{wrong[0]} is {plain[wrong[0]]!r}"[:200])
            return cls(**{name: plain[name] for name in kinds})
        except (LookupError, TypeError, AttributeError, RecursionError, zlib.error) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error


def signs_of(rows: Iterable[Row]) -> dict[str, Sign]:
    """Return the signs among the documents about workers that can be read, by names."""
    signs = {}
    for row in rows:
        with suppress(ValueError, LookupError):  # the workers set it aside
            signs[row["_id"].partition("/")[2]] = Sign.decode(row["facts"])
    return signs


def free_leases(shared: SharedStore, token: str) -> None:
    """Note of a worker that has died, and whose name ends with a token, that its parts are free.

    Who writes this must know that the process is gone: others would wait for a lease otherwise.
    """
    for row in shared.all("worker"):
        name = row["_id"].partition("/")[2]
        if name.endswith(f"-{token}"):
            for sign in signs_of([row]).values():
                gone = replace(sign, number=sign.number + 1, gone=True)
                shared.put("worker", name, {"facts": gone.encode()})


@dataclass(slots=True)
class _Member:
    """Another worker, as it is seen here.

    Attributes:
        sign: its last one.
        since: when that was first seen, in seconds in which it could be heard.
        signs: how many different ones were seen.
    """

    sign: Sign
    since: float
    signs: int = 1


class Members:
    """The workers of a crawl as one of them sees them.

    Args:
        name: of this worker.
        rules: how the crawl is shared.
        now: seconds of a monotonic clock.
    """

    def __init__(self, name: str, rules: Rules, now: float) -> None:
        self.name = name
        self._rules = rules
        self._looked_at = now
        self._heard = 0.0  # seconds in which others could be heard
        self._others: dict[str, _Member] = {}
        self._unseen: dict[str, float] = {}
        self._still: dict[str, int] = {}
        self._still_since: dict[str, int] = {}

    def look(self, signs: Mapping[str, Sign], now: float) -> None:
        """Take in the newest signs of all workers.

        Between two looks nobody is heard, and a server that is away keeps others from giving signs:
        what comes between counts, but half a lease at most. So whoever looks after a long time does
        not take for dead who could not be heard.
        """
        self._heard += min(now - self._looked_at, self._rules.lease / 2)
        self._looked_at = now
        for name in self._others.keys() - signs.keys():
            del self._others[name]
        for name, sign in signs.items():
            known = self._others.get(name)
            if name == self.name:
                continue
            if known is None:
                self._others[name] = _Member(sign, self._heard)
            elif (known.sign.number, known.sign.beat) != (sign.number, sign.beat):
                known.sign, known.since = sign, self._heard
                known.signs += 1

    # -- who is there ---------------------------------------------------------------------------

    @property
    def living(self) -> dict[str, Sign]:
        """The signs of the other workers that are alive, as far as is known."""
        return {name: one.sign for name, one in self._others.items() if self._lives(one)}

    @property
    def everybody(self) -> Iterable[Sign]:
        """The last signs of all other workers, dead ones and those that left included."""
        return (one.sign for one in self._others.values())

    def may_live(self, name: str) -> bool:
        """Tell whether a worker that a log names may be alive.

        One without a sign may have begun just now: it is waited for as long as for a silent one.
        """
        known = self._others.get(name)
        if known is not None:
            return self._lives(known)
        if name in {"", self.name}:
            return False
        since = self._unseen.setdefault(name, self._heard)
        return self._heard - since <= self._rules.lease

    def _lives(self, one: _Member) -> bool:
        return not one.sign.gone and self._heard - one.since <= self._rules.lease

    # -- who has which part ---------------------------------------------------------------------

    def free(self, own: Collection[int]) -> tuple[set[int], dict[int, int]]:
        """Return the parts that this worker is to take, besides its own; and those it was given,
        with the terms in which they were.
        """
        living = self.living
        taken = set(own)
        given: dict[int, tuple[int, str]] = {}
        for sign in living.values():
            taken.update(sign.parts, sign.aside)
            for name, parts in sign.gives.items():
                for part, term in parts.items():
                    given[part] = max((term, name), given.get(part, (0, "")))
        offered = {part: term for part, (term, name) in given.items() if name == self.name}
        taken.update(part for part, (_, name) in given.items() if name in living)
        names = sorted([self.name, *living])
        mine = {
            part
            for part in range(self._rules.parts)
            if part not in taken and (part in offered or _chosen(part, names) == self.name)
        }
        return mine, offered

    def lost(self, own: Mapping[int, int]) -> set[int]:
        """Return which of some parts, given with their terms, others have or offer in later ones.

        Who is offered a part does not take it while the sign of somebody else tells of it.
        """
        return {
            part
            for part, term in own.items()
            if any(sign.term(part) > term for sign in self.everybody)
        }

    def has(self, part: int, later: int) -> bool:
        """Tell whether another worker that is alive has, or gives, a part in a later term.

        Or has it set aside.
        """
        return any(part in sign.aside or sign.term(part) > later for sign in self.living.values())

    def to_give(self, standing: Sign) -> tuple[str, int, int]:
        """Return whom to give parts, how many with something to do, and how many without.

        Only the worker with most of them gives, to the one with fewest; "" for nobody. Where none
        has anything to do the crawl may be over, and nobody gives.

        Args:
            standing: sign of this worker.
        """
        living = {n: s for n, s in self.living.items() if self._others[n].signs > 1}
        signs = (standing, *living.values())
        if not living or all(sign.idle or not sign.active for sign in signs):
            return "", 0, 0
        own, active = len(standing.parts), standing.active
        poorest = min(living, key=lambda name: (living[name].active, len(living[name].parts), name))
        richest = max((sign.active, name) for name, sign in living.items())
        sign = living[poorest]
        some = others = 0
        if active - sign.active >= _MORE and (active, self.name) > richest:
            some = (active - sign.active) // 2
        least = min(living, key=lambda name: (len(living[name].parts), name))
        most = max((len(sign.parts), name) for name, sign in living.items())
        uneven = own - len(living[least].parts)
        if least == poorest and uneven > max(1, _UNEVEN * own) and (own, self.name) > most:
            others = max(uneven // 2 - some, 0)
        return (poorest, some, others) if some or others else ("", 0, 0)

    @property
    def may_give_or_end(self) -> bool:
        """Whether another has parts to give to who has nothing to do, or nobody has anything."""
        most = max((sign.active for sign in self.living.values()), default=0)
        return most == 0 or most >= _MORE

    def buried(self, own: Sign) -> list[str]:
        """Return the dead and gone whose parts the living have in later terms.

        Until then their signs tell who has such a part in an earlier term that it is not his.
        """
        living = self.living
        signs = [own, *living.values()]
        aside = {part for sign in signs for part in sign.aside}
        return [
            name
            for name, one in self._others.items()
            if name not in living
            and all(
                part in aside or any(sign.parts.get(part, -1) > term for sign in signs)
                for part, term in one.sign.parts.items()
            )
        ]

    # -- when it is over ------------------------------------------------------------------------

    def at_rest(self, own: Sign, mail_is_empty: Callable[[Collection[int]], bool]) -> bool:
        """Tell whether nobody has anything to do.

        So it is if all were idle and in one round, no mail was on its way then, and each has given
        a sign since that was asked, having done nothing in between.

        Args:
            own: sign of this worker.
            mail_is_empty: tells whether there is none, but for some parts.
        """
        living = {self.name: own, **self.living}
        aside = {part for sign in living.values() for part in sign.aside}
        have = aside.union(*(sign.parts for sign in living.values()))
        if (
            len(have) < self._rules.parts
            or len({sign.round for sign in living.values()}) > 1
            or not all(sign.idle and not sign.gives for sign in living.values())
        ):
            self._still = {}
            return False
        still = {name: sign.activity for name, sign in living.items()}
        numbers = {name: sign.number for name, sign in living.items()}
        if still != self._still:
            self._still = still if mail_is_empty(aside) else {}
            self._still_since = {}
            return False
        if not self._still_since:
            self._still_since = numbers
        return all(number > self._still_since[name] for name, number in numbers.items())


def _chosen(part: int, names: Iterable[str]) -> str:
    """Return which of some workers a part falls to: the same to all who ask."""
    return max(names, key=lambda name: blake2b(f"{part} {name}".encode(), digest_size=8).digest())
