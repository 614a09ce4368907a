"""How an experiment goes, while it goes: a table on a terminal, lines elsewhere."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

_LINE_SECONDS = 10.0
_RATE_SECONDS = 5.0


@dataclass
class Row:
    """One crawl as it is shown.

    Attributes:
        most: pages it may fetch at most, 0 if that is not known.
        state: `waits`, `runs`, `done` or `kept`.
        pages, relevant: what it has so far; relevant is None before the truth is known.
    """

    name: str
    most: int = 0
    state: str = "waits"
    pages: int = 0
    relevant: int | None = 0
    seen: deque[tuple[float, int]] = field(default_factory=deque)

    def note(self) -> None:
        """Remember how far it is, for the rate."""
        now = monotonic()
        self.seen.append((now, self.pages))
        while now - self.seen[0][0] > _RATE_SECONDS and len(self.seen) > 2:
            self.seen.popleft()

    @property
    def rate(self) -> float:
        """Pages a second over the last seconds."""
        if len(self.seen) < 2:
            return 0.0
        (since, before), (until, now) = self.seen[0], self.seen[-1]
        return (now - before) / (until - since) if until > since else 0.0

    def line(self) -> str:
        """Return the row as a sentence."""
        if not self.pages:
            return f"{self.name}: {self.state}"
        found = "" if self.relevant is None else f", {self.relevant} relevant"
        speed = f", {self.rate:.0f} pages/s" if self.state == "runs" else ""
        return f"{self.name}: {self.state}, {self.pages} pages{found}{speed}"


class Progress:
    """Shows rows while they change; a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rows: list[Row] = []
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._said = monotonic()

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def add(self, row: Row) -> Row:
        """Show one more row."""
        self._rows.append(row)
        return row

    def change(self, row: Row, state: str) -> None:
        """Give a row another state, and tell of it."""
        row.state = state
        if self._live is None:
            self._console.print(row.line(), markup=False, highlight=False)
        self.tick()

    def warn(self, text: str) -> None:
        """Say what a person should know before going on."""
        self._console.print(f"warning: {text}", style="yellow", markup=False, highlight=False)

    def tick(self) -> None:
        """Bring what is shown up to date."""
        for row in self._rows:
            if row.state == "runs":
                row.note()
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif monotonic() - self._said >= _LINE_SECONDS:
            self._said = monotonic()
            for row in self._rows:
                if row.state == "runs":
                    self._console.print(row.line(), markup=False, highlight=False)

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("crawl")
        for name in ("", "pages", "of", "relevant", "pages/s"):
            table.add_column(name, justify="right")
        for row in self._shown():
            table.add_row(
                row.name,
                row.state,
                str(row.pages),
                str(row.most or ""),
                "" if row.relevant is None else str(row.relevant),
                f"{row.rate:.0f}" if row.state == "runs" else "",
                style="bold" if row.state == "runs" else "dim" if row.state == "waits" else "",
            )
        return table

    def _shown(self) -> list[Row]:
        """Return as many rows as fit the terminal, those that run among them."""
        room = max(self._console.height - 3, 3)
        if len(self._rows) <= room:
            return self._rows
        running = [n for n, row in enumerate(self._rows) if row.state == "runs"]
        first = max(0, min((running or [len(self._rows)])[0] - 2, len(self._rows) - room))
        return self._rows[first : first + room]


@contextmanager
def steps(console: Console) -> Iterator[Callable[[int, int, str], None]]:
    """Give what is told how far a measurement is: steps done, steps in all, and what is measured.

    It is shown as a bar on a terminal; elsewhere as a line at once, and then every ten seconds.
    """
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
    said = -_LINE_SECONDS
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")

        def told(done: int, of: int, what: str) -> None:
            nonlocal said
            bar.update(task, completed=done, total=of, description=what)
            now = monotonic()
            if what and not console.is_terminal and now - said >= _LINE_SECONDS:
                said = now
                console.print(f"{done} of {of}: {what}", markup=False, highlight=False)

        yield told
