"""A small stored web with all that experiments stumble over, and an experiment done on it."""

import io
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from mmcrawl.experiment import (
    Algorithm,
    Outcome,
    Plan,
    crawl,
    draw_figures,
    run_experiment,
    write_report,
)
from tests.warm import python, starts_warm

HOST = "site.test"
FILMS = 6
NEWS = 12


def page(title: str, *links: str, media: str = "") -> str:
    """Return a small page; `media` is the file it offers under its title."""
    film = f'<p><a href="{media}">{title}</a></p>' if media else ""
    anchors = "".join(f'<li><a href="{link}">more</a></li>' for link in links)
    return f"<title>{title}</title><h1>{title}</h1>{film}<ul>{anchors}</ul>"


def write_web(root: Path, *, media: bool = True) -> Path:
    """Write a web of one host: news, a folder of films behind a redirect, and a film kept twice."""
    films = [f"/films/{n}.htm" for n in range(1, FILMS + 1)]
    news = [f"/news/{n}.htm" for n in range(1, NEWS + 1)]
    pages = {
        "/index.htm": page("Home", *news[:3], "/films", "/gone.htm"),
        "/films/index.htm": page("All films", *films, "/films/copy.htm", "/"),
        **{
            url: page("Nothing but news", *news[number + 1 : number + 3])
            for number, url in enumerate(news)
        },
        **{
            url: page(f"Optics, part {url[7:-4]}", media=f"{url[:-4]}.mp4" if media else "")
            for url in films
        },
    }
    pages["/films/copy.htm"] = pages["/films/1.htm"]
    for url, text in pages.items():
        file = root / HOST / url[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def plan_for(
    web: Path, *names: str, budget: float = 0, runs: int = 0, keywords: str = "optics|光学"
) -> Plan:
    """Return the plan of an experiment on a web of the kind `write_web` writes."""
    algorithms = tuple(Algorithm(name, name) for name in names)
    return Plan(str(web), {"keywords": keywords}, algorithms, budget, runs)


@dataclass(frozen=True)
class Laboratory:
    """A web, a cache of truths, and where experiments are written."""

    folder: Path

    @property
    def web(self) -> Path:
        return self.folder / "web"

    def run(
        self, plan: Plan, out: str, *, report: bool = True, figures: str = "", **options: int
    ) -> tuple[Outcome, str]:
        """Do an experiment; return what it came to and what was said while it went on.

        Of the figures of its report, whose drawing takes longer than its crawls, those are drawn
        whose names have `figures` in them; none if that is empty.
        """
        said = io.StringIO()
        outcome = run_experiment(
            plan,
            self.folder / out,
            cache=self.folder / "cache",
            console=Console(file=said, width=120),
            **options,
        )
        with pytest.MonkeyPatch.context() as patched:
            chosen = ((n, f) for n, f in draw_figures(outcome) if figures and figures in n)
            patched.setattr("mmcrawl.experiment.report.draw_figures", lambda _: chosen)
            if report:
                write_report(outcome, self.folder / out)
        return outcome, said.getvalue()


@pytest.fixture(scope="session")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    starts_warm(crawl, python())
    laboratory = Laboratory(tmp_path_factory.mktemp("laboratory"))
    write_web(laboratory.web)
    return laboratory


@pytest.fixture(scope="session")
def done(laboratory: Laboratory) -> tuple[Outcome, Path]:
    """An experiment with breadth and urlrule, and its folder."""
    plan = plan_for(laboratory.web, "breadth", "urlrule")
    outcome, _ = laboratory.run(plan, "done", figures="-")
    return outcome, laboratory.folder / "done"
