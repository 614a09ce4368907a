"""The thread in which a worker corresponds with the shared store, so that the crawl never waits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from mmcrawl.cluster.exchange import Exchange
from mmcrawl.errors import StoreError

logger = logging.getLogger(__name__)


class Sender:
    """Takes the steps of an exchange.

    Args:
        exchange: of the worker.
        news: called from the thread after each step.
        failed: called from the thread when the shared store fails.
    """

    def __init__(
        self,
        exchange: Exchange,
        *,
        news: Callable[[], object],
        failed: Callable[[StoreError], object],
    ) -> None:
        self._exchange = exchange
        self._news, self._failed = news, failed
        self._thread = Thread(target=self._run, name="mmcrawl-sender", daemon=True)
        self._has_ended = Event()
        self._thread.start()
        Thread(target=self._beat, name="mmcrawl-beats", daemon=True).start()

    def leave(self, timeout: float | None = None) -> None:
        """Have everything written that was handed over, and end.

        Args:
            timeout: seconds to wait at most, None for as long as it takes.
        """
        with self._exchange.changed:
            self._exchange.leaving = True
            self._exchange.changed.notify()
        self._thread.join(timeout)

    def _run(self) -> None:
        exchange = self._exchange
        try:
            while not exchange.has_left:
                with exchange.changed:
                    pause = exchange.due(time.monotonic())
                    if pause > 0:
                        exchange.changed.wait(pause)
                exchange.step(time.monotonic())
                self._news()
        except StoreError as error:
            self._failed(error)
        except Exception as error:
            logger.exception("The exchange with the shared store failed")
            self._failed(StoreError(f"the worker lost its store: {type(error).__name__}: {error}"))
        finally:
            self._has_ended.set()

    def _beat(self) -> None:
        """Keep the worker alive for others while a step takes long."""
        with suppress(StoreError):  # which ends the exchange as well
            while not self._has_ended.wait(self._exchange.rules.lease / 8):
                self._exchange.beat(time.monotonic())
