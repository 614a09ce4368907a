"""Experiments: algorithms side by side on a stored web, against the truth about it.

One crawl without focus finds the pages of a web and the relevant ones among them (`truth`). Then
every algorithm crawls the same web in processes of their own (`crawl`, `laboratory`); the pages it
fetched are compared with the truth (`measures`) and shown in tables and figures (`results`,
`report`). `report` needs matplotlib and Jinja2 and is loaded on first use.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.experiment.crawl import CrawlError, CrawlProcess, read_pages
    from mmcrawl.experiment.laboratory import Outcome, output_folder, run_experiment, steps
    from mmcrawl.experiment.measures import area_share
    from mmcrawl.experiment.plan import (
        Algorithm,
        ExperimentError,
        Plan,
        algorithms_of,
        code_digest,
        truth_key,
    )
    from mmcrawl.experiment.report import draw_figures, styles_for, write_report
    from mmcrawl.experiment.results import FORMAT, Change, Comparison, compare, says, warnings
    from mmcrawl.experiment.truth import (
        LinkGraph,
        Series,
        Truth,
        find_truth,
        oracle_order,
        read_series,
        series_of,
        truth_of,
    )
