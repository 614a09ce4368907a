"""A worker's correspondence with the coordinator, in a thread of its own.

What the worker tells is gathered and sent as one message, leases come in before the worker runs out
of them, and a sign of life is given every second. So the crawl itself never waits for the server.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Condition, Thread
from typing import Any

from mmcrawl.errors import StoreError
from mmcrawl.sharing.leases import LeaseBuffer
from mmcrawl.sharing.messages import (
    Added,
    Event,
    Failed,
    Fetched,
    Lease,
    Mail,
    Message,
    Returned,
)
from mmcrawl.sharing.rules import Rules
from mmcrawl.sharing.store import SharedStore

logger = logging.getLogger(__name__)

_SMALLEST_HOLDING, _LARGEST_HOLDING = 24, 512
_SHORTEST_LASTING, _LONGEST_LASTING = 0.7, 1.5  # so many seconds a worker's leases should last
_GROWTH, _DECAY = 2.0, 0.9  # of that, each second: where it ran dry, where it did not
_GATHER_SECONDS = 0.2
_GATHERED = 16
_SIGN_SECONDS = 1.0
_SHORTEST_POLL, _LONGEST_POLL = 0.03, 0.5
_RATE_SECONDS = 3.0
_SIGNS_A_STATUS = 2
_FENCE = 0.8  # of a lease: a worker that was silent for so long trusts its leases no more
_MOST_EVENTS = 256
_MOST_BYTES = 4 << 20


class Outbox:
    """Sends what a worker tells, and keeps leases ready for it.

    Args:
        shared: where the crawl is shared.
        worker: name of the worker.
        rules: how the crawl is shared.
        news: called from the thread when links have come.
        failed: called from the thread when the shared store fails.
    """

    def __init__(
        self,
        shared: SharedStore,
        worker: str,
        rules: Rules,
        *,
        news: Callable[[], object],
        failed: Callable[[StoreError], object],
    ) -> None:
        self._shared = shared
        self._worker = worker
        self._rules = rules
        self._news, self._failed = news, failed
        self._changed = Condition()
        self._buffer = LeaseBuffer()
        self._events: deque[Event] = deque()
        self._gathering_since = 0.0
        self._closing = False
        self._leave = True
        self._received = -1
        self._told_received = -1
        self._number = 0
        self._signs = 0
        self._term = 0
        self._status: Mapping[str, Any] = {}
        self._moved: tuple[tuple[str, str], ...] = ()
        self._in_vain = 0
        self._signed_at = self._asked_at = -_SIGN_SECONDS
        self._heard_at = time.monotonic()
        self._recent: deque[tuple[float, int]] = deque([(self._heard_at, 0)])
        self._settled = 0
        self._under_way = 0
        self._lasting = _SHORTEST_LASTING
        self._ran_dry = False
        self._thread = Thread(target=self._run, name="mmcrawl-outbox", daemon=True)

    # -- what the worker calls ------------------------------------------------------------------

    def start(self) -> None:
        """Begin to correspond."""
        self._thread.start()

    @property
    def ready(self) -> int:
        """How many links lie ready."""
        return len(self._buffer)

    @property
    def moved(self) -> tuple[tuple[str, str], ...]:
        """Hosts of seeds and the hosts they turned out to redirect to."""
        return self._moved

    @property
    def status(self) -> Mapping[str, Any]:
        """What the coordinator told of the crawl as a whole, a few seconds old."""
        return self._status

    def next(self, ready: Callable[[str], bool]) -> Lease | None:
        """Take the first lease of an origin that is `ready`; none if they may be others' by now."""
        with self._changed:
            lease = None if self._is_cut_off else self._buffer.pop(ready)
            self._under_way += lease is not None
            if self._runs_low:
                self._changed.notify()
            return lease

    def note_double(self) -> None:
        """Note that the lease taken last is of a link that is under way already."""
        with self._changed:
            self._under_way -= 1

    def tell(self, event: Event) -> None:
        """Send an event soon; those told before it arrive before it."""
        with self._changed:
            if not self._events:
                self._gathering_since = time.monotonic()
            self._events.append(event)
            self._settled += isinstance(event, Fetched | Failed)
            self._under_way -= not isinstance(event, Added)
            self._ran_dry |= not self._under_way and not len(self._buffer)
            if len(self._events) >= _GATHERED or len(self._events) == 1:
                self._changed.notify()

    def read_status(self) -> None:
        """Fetch the newest `status`."""
        self._status = self._shared.status() or {}

    def close(self, *, leave: bool = True, timeout: float | None = None) -> None:
        """Send everything and take leave: what was not reported goes to others.

        Args:
            leave: whether there is anybody to take leave of: the crawl is not over.
            timeout: seconds to wait at most, None for as long as it takes.
        """
        with self._changed:
            self._closing, self._leave = True, leave
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)

    # -- inside of the thread -------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._closing:
                self._wait()
                self._exchange()
            if self._leave:
                self._send(leaving=True)
        except StoreError as error:
            self._failed(error)
        except Exception as error:
            logger.exception("A worker's outbox failed")
            self._failed(StoreError(f"the worker lost its store: {type(error).__name__}: {error}"))

    def _exchange(self) -> None:
        now = time.monotonic()
        if self._is_cut_off:
            self._give_back()
        if now - self._signed_at >= _SIGN_SECONDS:
            self._sign(now)
        if self._events or self._received != self._told_received:
            self._send()
        if self._wants_mail(now):
            self._asked_at = now
            self._read_mail()

    def _wait(self) -> None:
        with self._changed:
            while not self._closing:
                seconds = self._next_due() - time.monotonic()
                if seconds <= 0:
                    return
                self._changed.wait(seconds)

    def _next_due(self) -> float:
        due = self._signed_at + _SIGN_SECONDS
        if len(self._events) >= _GATHERED:
            return 0.0
        if self._events:
            due = min(due, self._gathering_since + self._gather_seconds)
        return min(due, self._asked_at + self._poll_seconds)

    @property
    def _is_cut_off(self) -> bool:
        """Whether the server heard nothing for so long that others may have the leases."""
        return time.monotonic() - self._heard_at > _FENCE * self._rules.lease

    @property
    def _gather_seconds(self) -> float:
        """How long events are gathered: not at all by a worker that has nothing else to do."""
        return 0.0 if not len(self._buffer) else _GATHER_SECONDS

    @property
    def _poll_seconds(self) -> float:
        """How long to wait before the mail is read again: longer each time nothing came."""
        if not self._runs_low:
            return _LONGEST_POLL
        return min(_SHORTEST_POLL * 1.5**self._in_vain, _LONGEST_POLL)

    @property
    def _runs_low(self) -> bool:
        return len(self._buffer) < self._holding // 2

    @property
    def _holding(self) -> int:
        """How many links the worker wants to hold: with many the order is poorer, with few it
        runs dry before the next ones come."""
        since, before = self._recent[0]
        rate = (self._settled - before) / max(time.monotonic() - since, _SIGN_SECONDS)
        return min(_SMALLEST_HOLDING + int(rate * self._lasting), _LARGEST_HOLDING)

    def _wants_mail(self, now: float) -> bool:
        return now - self._asked_at >= self._poll_seconds

    def _sign(self, now: float) -> None:
        self._signs += 1
        lasting = self._lasting * (_GROWTH if self._ran_dry else _DECAY)
        self._lasting = min(max(lasting, _SHORTEST_LASTING), _LONGEST_LASTING)
        self._ran_dry = False
        self._shared.beat(self._worker, {"sign": self._signs, "capacity": self._holding})
        self._heard_at = self._signed_at = now
        if self._signs % _SIGNS_A_STATUS == 1:
            self.read_status()
        self._recent.append((now, self._settled))
        while now - self._recent[0][0] > _RATE_SECONDS:
            self._recent.popleft()

    def _send(self, *, leaving: bool = False) -> None:
        """Send the events that are gathered, in as many messages as they need."""
        with self._changed:
            events = list(self._events)
            self._events.clear()
        self._in_vain = 0
        began = time.monotonic()
        received = self._received
        for name, data in self._messages(events, received, leaving=leaving):
            self._shared.send([(name, data)])
        self._heard_at = began
        self._told_received = received

    def _messages(
        self, events: Sequence[Event], received: int, *, leaving: bool
    ) -> Iterator[tuple[str, bytes]]:
        """Yield messages by their names, each small enough to be sent and logged."""
        message = Message(
            self._worker, self._number, received, self._holding, tuple(events), leaving
        )
        data = message.encode() if len(events) <= _MOST_EVENTS else b""
        if data and len(data) <= _MOST_BYTES:
            self._number += 1
            yield f"{self._worker}/{message.number:012d}", data
        elif len(events) > 1:
            half = len(events) // 2
            yield from self._messages(events[:half], received, leaving=False)
            yield from self._messages(events[half:], received, leaving=leaving)
        else:
            small = list(self._small(events[0], len(data)))
            yield from self._messages(small, received, leaving=leaving)

    def _small(self, event: Event, size: int) -> Iterator[Event]:
        """Yield, in place of an event that cannot be sent, what can be said of its link."""
        logger.error("A report of %d bytes is too long for the store; its page is lost", size)
        if not isinstance(event, Added):
            yield Failed(event.link, event.lease, "too many links for a shared crawl")

    def _read_mail(self) -> None:
        data = self._shared.mail(self._worker)
        try:
            mail = None if data is None else Mail.decode(data)
        except ValueError as error:  # the coordinator writes again what was not received
            self._shared.set_aside("mail", self._worker, str(error))
            mail = None
        if mail is None or mail.term < self._term:
            self._in_vain += 1
            return
        self._term, self._moved = mail.term, mail.moved
        new = [lease for lease in mail.leases if lease.number > self._received]
        self._in_vain = 0 if new else self._in_vain + 1
        if new:
            with self._changed:
                self._buffer.add(new)
                self._received = new[-1].number
            self._news()

    def _give_back(self) -> None:
        """Give back what was not begun: it may have been given to others meanwhile."""
        with self._changed:
            leases = self._buffer.clear()
            self._events.extend(Returned(lease.link.id, lease.number) for lease in leases)
        self._heard_at = time.monotonic()
        if leases:
            logger.warning(
                "This worker was cut off for longer than its leases last; %d links go back",
                len(leases),
            )
