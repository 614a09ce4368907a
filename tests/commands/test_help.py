"""`scrapy help`, and commands named as the program that was called."""

import re
import sys
from collections.abc import Callable

import pytest

from mmcrawl.commands.terminal import complain
from mmcrawl.text import as_called
from tests.commands.running import called
from tests.tables import each

Run = Callable[..., str]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a program with arguments and returns what it says; another exit code fails."""

    def run(program: str, *arguments: str, exit_code: int = 0) -> str:
        said = called(program, *arguments, capture=capfd)
        assert said.code == exit_code, said
        return said.out + said.err

    return run


def test_help_of_a_spider_names_its_arguments_and_those_of_algorithms(run: Run) -> None:
    shown = run("scrapy", "help", "focused")
    assert shown == run("scrapy", "crawl", "focused", "--help")
    assert "max_pages" in shown
    assert "alpha" not in shown
    assert "limit" in run("scrapy", "help", "revisit")
    assert "weight of content against structure" in run("scrapy", "help", "algorithms")
    shown = run("scrapy", "help", "algorithms", "fish")
    assert "in a row may be crossed" in shown
    assert "(default: 3; 0 to 1e+06)" in " ".join(shown.split())
    assert "did you mean fish" in run("scrapy", "help", "algorithms", "fihs", exit_code=2)


def test_a_subcommand_shows_and_takes_its_own_options(run: Run) -> None:
    shown = run("scrapy", "archive", "duplicates", "--help")
    assert shown == run("scrapy", "help", "archive", "duplicates")
    assert "scrapy archive duplicates [FILE.db] [options]" in shown
    assert {"--near", "--limit", "--json", "--archive"} < {*re.findall(r"--[\w-]+", shown)}
    assert not {"--repair", "--css"} & {*re.findall(r"--[\w-]+", shown)}
    assert "--max-file" not in run("scrapy", "collect", "list", "--help")


def test_help_shows_commands_and_what_one_can_be_told(run: Run) -> None:
    listed = run("scrapy", "help")
    assert listed == run("scrapy")
    names = set(re.findall(r"(?m)^  (\w+)  +\w", listed))
    assert {"archive", "help", "crawl"} < names
    assert "base" not in names  # what commands inherit is none itself
    assert run("scrapy", "help", "archive") == run("scrapy", "archive", "--help")
    assert "Unknown command: nothing" in run("scrapy", "help", "nothing", exit_code=2)


@each(
    "arguments, exit_code, shown",
    [
        (("none",), 2, 'Use "mmcrawl" to see'),
        (("help", "crawl"), 0, "max_pages"),
        (("archive", "--help"), 0, "mmcrawl archive WHAT"),
        (("archive", "list", "a", "b"), 2, "mmcrawl archive list"),
        (("crawl", "-a", "topic=none"), 2, "mmcrawl crawl: unknown topic 'none'; `mmcrawl topic"),
    ],
)
def test_the_program_without_a_project_names_itself(run, arguments, exit_code, shown):
    told = run("mmcrawl", *arguments, exit_code=exit_code)
    assert shown in told
    assert "scrapy " not in told


def test_scrapy_is_named_where_it_was_called(run: Run) -> None:
    assert "scrapy archive WHAT" in run("scrapy", "archive", "--help")
    assert "`scrapy topic list`" in run(
        "scrapy", "crawl", "focused", "-a", "topic=none", exit_code=2
    )


def test_only_commands_change_their_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/mmcrawl", "crawl"])
    assert as_called("`scrapy rank`; Scrapy 2, scrapy.cfg, a scrapy") == (
        "`mmcrawl rank`; Scrapy 2, scrapy.cfg, a scrapy"
    )
    complain("rank", "two\nlines \x1b[1m, see `scrapy rank`")
    assert capsys.readouterr().err == "mmcrawl rank: two lines \ufffd[1m, see `mmcrawl rank`\n"
    monkeypatch.setattr(sys, "argv", ["/usr/bin/scrapy", "crawl"])
    assert as_called("`scrapy rank`") == "`scrapy rank`"
