"""Crawls, as they run, and reports of experiments."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starlette.responses import JSONResponse, Response

from mmcrawl.archive.places import shown
from mmcrawl.browse.asked import Asked
from mmcrawl.browse.context import Context
from mmcrawl.browse.crawl_numbers import CrawlWatch
from mmcrawl.browse.experiment_reports import reports_in
from mmcrawl.browse.problems import Problem
from mmcrawl.browse.rendering import page

__all__ = ["CrawlViews"]

_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; sandbox"
)
_AGAIN = 5  # seconds until the numbers of running crawls are shown anew


@dataclass(frozen=True, slots=True)
class CrawlViews:
    """Crawls and experiments."""

    context: Context
    watch: CrawlWatch

    def crawls(self, asked: Asked) -> Response:
        """Show where crawls stand, and what reports there are."""
        crawls = self.watch.crawls()
        runs = any(crawl.state in ("running", "starting") for crawl in crawls)
        return page(
            asked,
            "crawls",
            store=shown(self.context.options.store),
            crawls=crawls,
            again=_AGAIN if runs else None,
            reports=reports_in(self.context.options.reports),
        )

    def json(self, _: Asked) -> Response:
        """Answer with where crawls stand as JSON."""
        return JSONResponse({"crawls": [asdict(crawl) for crawl in self.watch.crawls()]})

    def report(self, asked: Asked) -> Response:
        """Show a report as it was written."""
        name = asked.request.path_params["name"]
        for report in reports_in(self.context.options.reports):
            if report.name == name:
                return Response(
                    (report.folder / "report.html").read_bytes(),
                    media_type="text/html",
                    headers={"Content-Security-Policy": _REPORT_POLICY},
                )
        raise Problem(404, "report", name=name)
