"""`scrapy experiment`: what a person types, and what comes back."""

import sys
from pathlib import Path

import pytest

from mmcrawl.commands import experiment as module
from mmcrawl.experiment import crawl
from tests.commands.running import exit_code
from tests.programs import typed
from tests.warm import python, starts_warm

FILM = '<title>Optics {0}</title><a href="{0}.mp4">Optics {0}</a>'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder to work in, with a small web in it."""
    host = tmp_path / "web" / "site.test"
    host.mkdir(parents=True)
    links = "".join(f'<a href="{n}.htm">part {n}</a>' for n in range(1, 9))
    (host / "index.htm").write_text(f"<title>Home</title>{links}")
    for number in range(1, 9):
        (host / f"{number}.htm").write_text(
            FILM.format(number) if number % 2 else f"<title>News {number}</title>"
        )
    monkeypatch.chdir(tmp_path)
    starts_warm(crawl, python())
    return tmp_path


def run(*args: str) -> int:
    """Run the command in this process, without the figures; return its exit code."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("mmcrawl.experiment.report.draw_figures", lambda _: ())
        return exit_code(module.Command, *args)


WEB = ("--web", "web", "--keywords", "optics")


def test_an_experiment_and_the_comparison_of_two(folder, capsys):
    options = (
        *(*WEB, "--parallel", "2", "--budget", "5", "--out", "one"),
        *("--algos", "breadth,urlrule:lift=0", "-s", "MMCRAWL_TOPIC_THRESHOLD=0.4"),
    )
    done = typed("experiment", *options, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "After 21% of the web (2 pages)" in " ".join(done.stdout.split())
    assert "Report: one/report.html" in done.stdout
    assert "truth: done, 9 pages, 4 relevant" in done.stderr
    assert (folder / ".mmcrawl-truth").is_dir()
    text = (folder / "one" / "report.html").read_text(encoding="utf-8")
    assert "urlrule:lift=0" in text
    assert "MMCRAWL_TOPIC_THRESHOLD=0.4" in text
    assert run(*options) == 0  # in another process the same experiment is known again
    assert "urlrule:lift=0: kept, 5 pages" in capsys.readouterr().err
    assert run("--compare", "one", "one") == 0
    assert "(+0.0)" in capsys.readouterr().out


def test_a_plain_installation_gives_results_and_says_in_a_sentence_what_draws_the_report(
    folder, capsys, monkeypatch
):
    for name in ("matplotlib", "jinja2"):
        monkeypatch.setitem(sys.modules, name, None)
    assert exit_code(module.Command, *WEB, "--algos", "breadth") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "For a report with figures install matplotlib and jinja2 (pip install 'mmcrawl[" in said
    written = {path.name for path in (folder / "experiment").iterdir() if path.is_file()}
    assert written >= {"results.json", "results.csv", "results.tex"}
    assert "report.html" not in written


def test_a_web_without_relevant_pages_is_reported_and_ends_with_code_2(folder, capsys):
    budget = ("--budget", "34%")
    assert run("--web", "web", "--keywords", "zymurgy", "--algos", "breadth", *budget) == 2
    out, err = capsys.readouterr()
    assert "is relevant to zymurgy, so recall is undefined" in err.splitlines()[-1]
    assert "rejected all of the 4 pages with media; nearest to it came “Optics 1”" in " ".join(
        out.split()
    )
    text = (folder / "experiment" / "report.html").read_text(encoding="utf-8")
    assert "3 pages a run, 34.0% of those that can be reached" in text
    assert run("--web", "web", "--keywords", "zymurgy", "--algos", "breadth",
               "--seeds", "http://site.test/no.htm", "--out", "no") == 2  # fmt: skip
    last = capsys.readouterr().err.splitlines()[-1]
    assert "no page of the web web can be fetched from its seeds (HTTP 404)" in last


def test_any_media_need_no_topic_and_equal_columns_are_told_once(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    options = ("--task", "any-media", "--algos", "fish,breadth")
    assert run("--web", "web", *options) == 0
    out = capsys.readouterr().out
    assert "All rows: " in out
    told = " ".join(out.split())
    assert "media recall 100.0%" in told
    assert "pages recall 100.0%" in told
    assert "precision 44.4%" in told
    assert max(map(len, out.splitlines())) <= 100
    text = (folder / "experiment" / "report.html").read_text(encoding="utf-8")
    assert "any media: which algorithm finds it first?" in text
