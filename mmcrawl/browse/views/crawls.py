"""Crawls, as they run, and reports of experiments: folders with a report and its results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response

from mmcrawl.archive.search.query import MEDIA
from mmcrawl.archive.uris import shown
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context, numbers_of
from mmcrawl.browse.crawl_numbers import CrawlWatch
from mmcrawl.browse.rendering import page
from mmcrawl.frontier.findings import MediaPageRecord
from mmcrawl.page.model import MediaResource
from mmcrawl.sharing.found import FoundMedia

_MOST = 200  # folders that are looked into
_LARGEST_RESULTS = 20 << 20  # characters; of a larger one only the report is shown
_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; sandbox"
)
_AGAIN = 5  # seconds until the numbers of running crawls are shown anew
_RUNNING = ("running", "starting")
_PER_PAGE = 25
_MOST_PAGES = 400  # of the list of what a crawl found; those behind are read to get there
_MOST_MEDIA = 8  # of a page that are shown by title
_MOST_WORDS = 12


@dataclass(frozen=True, slots=True)
class Report:
    """A report.

    Attributes:
        name: In addresses: the folder, by name.
        folder: Where it is.
        time: When it was written, Unix seconds.
        web, topic: What the experiment was about.
        rows: For each algorithm its label, pages fetched, recall and precision, as far as told.
    """

    name: str
    folder: Path
    time: float
    web: str
    topic: str
    rows: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page with media that a crawl found.

    Attributes:
        record: As the crawl keeps it.
        words: Of the topic that it has, some of them.
        kinds: How many media of each kind it has.
        media: Some of them, those with a title first.
        version: Its last in the archive, None if it is not there.
    """

    record: MediaPageRecord
    words: tuple[str, ...]
    kinds: dict[str, int]
    media: tuple[MediaResource, ...]
    version: int | None


def reports_in(folders: Sequence[Path]) -> list[Report]:
    """Return the reports in some folders, or one level below, those written last first."""
    places = [place for folder in folders for place in (folder, *_inside(folder))]
    found: dict[str, Report] = {}
    for place in places[:_MOST]:
        file = place / "report.html"
        if file.is_file():
            name = place.resolve().name
            while name in found:
                name += "~"
            found[name] = _read(name, place, file.stat().st_mtime)
    return sorted(found.values(), key=lambda report: -report.time)


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(place for place in folder.iterdir() if place.is_dir())[:_MOST]
    except OSError:
        return []


def _read(name: str, folder: Path, time: float) -> Report:
    file = folder / "results.json"
    try:
        with file.open(encoding="utf-8") as opened:
            results = json.loads(opened.read(_LARGEST_RESULTS))
        experiment = results["experiment"]
        rows = tuple(_row(row) for row in results["algorithms"])
        return Report(
            name, folder, time, str(experiment["web"]), str(experiment.get("topic", "")), rows
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return Report(name, folder, time, "", "", ())  # the report itself can be read still


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "label": str(row["label"]),
        "fetched": _mean(row.get("fetched")),
        "recall": _mean(row.get("recall")),
        "precision": _mean(row.get("precision")),
    }


def _mean(value: Any) -> float | None:
    if isinstance(value, dict):
        value = value.get("mean")
    return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class CrawlViews:
    """Crawls and experiments."""

    context: Context
    watch: CrawlWatch

    def crawls(self, arguments: Arguments) -> Response:
        """Show where crawls stand, and what reports there are."""
        crawls = self.watch.crawls()
        runs = any(crawl.state in _RUNNING for crawl in crawls)
        return page(
            arguments,
            "crawls",
            store=shown(self.context.options.store),
            crawls=crawls,
            again=_AGAIN if runs else None,
            reports=reports_in(self.context.options.reports),
        )

    def crawl(self, arguments: Arguments) -> Response:
        """Show where a crawl stands, and the pages with media that it found, the best first."""
        name = arguments.text("job", longest=300)
        crawl = next((crawl for crawl in self.watch.crawls() if crawl.name == name), None)
        if crawl is None:
            raise Problem(404, "crawl", name=name)
        most = min(crawl.media_pages, _MOST_PAGES * _PER_PAGE)
        number, last = arguments.list_page(most, _PER_PAGE)
        store = FoundMedia(self.context.options.store, name)
        found = store.best(_PER_PAGE * (number - 1), _PER_PAGE)
        return page(
            arguments,
            "crawl",
            crawl=crawl,
            again=_AGAIN if crawl.state in _RUNNING else None,
            found=[self._found(record) for record in found],
            most=most,
            start=_PER_PAGE * (number - 1) + 1,
            number=number,
            last=last,
        )

    def _found(self, record: MediaPageRecord) -> FoundPage:
        versions = numbers_of(self.context.archive.visits(record.url))
        media = sorted(record.resources, key=lambda one: (not one.text, one.text, one.url))
        return FoundPage(
            record,
            record.words[:_MOST_WORDS],
            {kind: record.count(kind) for kind in MEDIA if record.count(kind)},
            tuple(media[:_MOST_MEDIA]),
            versions[-1] if versions else None,
        )

    def json(self, _: Arguments) -> Response:
        """Answer with where crawls stand as JSON."""
        return JSONResponse({"crawls": [asdict(crawl) for crawl in self.watch.crawls()]})

    def report(self, arguments: Arguments) -> Response:
        """Show a report as it was written."""
        name = arguments.request.path_params["name"]
        for report in reports_in(self.context.options.reports):
            if report.name == name:
                return Response(
                    (report.folder / "report.html").read_bytes(),
                    media_type="text/html",
                    headers={"Content-Security-Policy": _REPORT_POLICY},
                )
        raise Problem(404, "report", name=name)
