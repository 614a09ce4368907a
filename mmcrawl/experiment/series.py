"""What a run fetched, page after page, judged by the truth; written as CSV and JSON."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mmcrawl.experiment.measures import best_pattern, pattern_of
from mmcrawl.experiment.recorder import read_clock
from mmcrawl.experiment.stores import read_end, read_pages, read_patterns
from mmcrawl.experiment.truth import Truth
from mmcrawl.text.writing import CsvWriter

_COLUMNS = ("url", "relevant", "media", "layer", "pattern", "seconds", "cpu_seconds")


@dataclass(frozen=True)
class Series:
    """One run. Lists have one entry a page, in the order of fetching.

    Attributes:
        algorithm: label of the algorithm.
        repeat: which of its runs, from 1.
        reason: why it ended: `finished` or `max_pages`.
        errors: links that led to no page, by reason.
        unknown: pages that the truth does not know.
        url: address.
        relevant: the truth calls it relevant, and it is no copy of a page fetched before.
        media: how many media it has, if the truth calls it relevant, that no page before had.
        layer: physical layer.
        pattern: of the URL patterns the run had learnt in the end, the most general that matches
            the address; "" for none.
        seconds: when the page was taken in, since the crawl began.
        cpu_seconds: processor time used until then.
    """

    algorithm: str
    repeat: int
    reason: str
    errors: dict[str, int]
    unknown: int
    url: list[str]
    relevant: list[bool]
    media: list[int]
    layer: list[int]
    pattern: list[str]
    seconds: list[float]
    cpu_seconds: list[float]

    def __len__(self) -> int:
        return len(self.url)

    @property
    def found(self) -> int:
        """How many relevant pages were fetched."""
        return sum(self.relevant)


def series_of(algorithm: str, repeat: int, store: Path, clock: Path, truth: Truth) -> Series:
    """Return the series of a finished crawl.

    Args:
        algorithm: its label.
        repeat: which run of it, from 1.
        store: what the crawl left.
        clock: the times it noted.
        truth: what its pages are judged by.
    """
    pages, times, end = read_pages(store), read_clock(clock), read_end(store)
    patterns = [pattern_of(record.pattern) for record in read_patterns(store)]
    found = [best_pattern(page.url, patterns) for page in pages]
    kinds = [truth.kind(page) for page in pages]
    return Series(
        algorithm=algorithm,
        repeat=repeat,
        reason=end.reason,
        errors=end.errors,
        unknown=kinds.count(None),
        url=[page.url for page in pages],
        relevant=truth.judge(kinds),
        media=truth.new_media(kinds),
        layer=[page.layer for page in pages],
        pattern=[str(pattern or "") for pattern in found],
        seconds=[times[page.url][0] for page in pages],
        cpu_seconds=[times[page.url][1] for page in pages],
    )


def write_series(series: Series, base: Path) -> None:
    """Write BASE.csv and then BASE.json, which says that the run is complete."""
    with _beside(base, "csv").open("w", encoding="utf-8", newline="") as file:
        writer = CsvWriter(file, lineterminator="\n")
        writer.writerow(("number", *_COLUMNS))
        columns = asdict(series) | {"relevant": map(int, series.relevant)}
        rows = zip(*(columns[name] for name in _COLUMNS), strict=True)
        writer.writerows((number, *row) for number, row in enumerate(rows, 1))
    text = json.dumps(asdict(series), ensure_ascii=False, indent=1)
    draft = _beside(base, "json.part")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(_beside(base, "json"))


def read_series(base: Path) -> Series | None:
    """Return the series that was written as BASE.json, None if it is not there or is broken."""
    try:
        values: dict[str, Any] = json.loads(_beside(base, "json").read_text(encoding="utf-8"))
        return Series(**{field.name: values[field.name] for field in fields(Series)})
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None


def _beside(base: Path, ending: str) -> Path:
    return base.with_name(f"{base.name}.{ending}")
