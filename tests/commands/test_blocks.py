"""`scrapy blocks`: what a person types, and what comes back."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from mmcrawl.blocks import KINDS, partitioner_names
from mmcrawl.commands import blocks as module
from mmcrawl.commands.terminal import KIND_STYLES
from tests.commands.running import exit_code
from tests.programs import typed
from tests.serving import Answer, Server
from tests.tables import each

PAGE = """<html><head><title>光学实验</title></head><body>
<ul><li><a href="/">首页</a><li><a href="/news/">新闻</a><li><a href="/map/">网站地图</a></ul>
<div><h1>光的折射</h1><p>光从一种介质斜射入另一种介质时，传播方向会发生偏折，这种现象叫做光的折射。</p>
<p>在折射现象中，光路是可逆的；入射角增大时，折射角也随着增大，但两者不成正比。</p></div>
<table><tr><td><a href="b.htm">透镜</a></td><td><a href="c.htm">反射</a></td></tr></table>
<p>Copyright 2009 Optics</p></body></html>"""
DEMO = "http://wuli.demo.test/"


def run(*args: str) -> int:
    """Run the command in this process; return its exit code."""
    return exit_code(module.Command, *args)


def blocks(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a person does."""
    return typed("blocks", *args, env={"no_proxy": "*", **environ})


@pytest.fixture
def page(tmp_path: Path) -> str:
    """A small page in a file."""
    file = tmp_path / "page.html"
    file.write_bytes(PAGE.encode("gb18030"))
    return str(file)


@pytest.fixture
def answers() -> dict[str, Answer]:
    """What the site has, by path."""
    return {}


@pytest.fixture
def site(answers: dict[str, Answer]) -> Iterator[Server]:
    with Server(answers) as opened:
        yield opened


def test_the_blocks_of_a_file_are_shown_nested_within_80_columns(page: str) -> None:
    shown = blocks(page, "--level", "2", COLUMNS="80")
    assert shown.returncode == 0
    assert shown.stderr == ""
    lines = shown.stdout.splitlines()
    assert lines[0] == page[:80] or page.startswith(lines[0])
    assert re.fullmatch(
        r"bwap, level 2: \d+ blocks(, \d+ innermost)?; [\d,]+ bytes, \d+ layout; gb18030",
        lines[-1],
    )
    assert re.search(r"── [a-z-]+ [01]\.\d\d  ", shown.stdout)
    assert re.search(r"\d+–\d+ \([\d,]+ bytes\)  html/body/", shown.stdout)
    assert "光从一种介质斜射入另一种介质时" in shown.stdout
    assert max(map(cell_len, lines)) <= 80
    assert "\x1b" not in shown.stdout


def test_kinds_are_coloured_on_a_terminal(page: str) -> None:
    assert set(KINDS) == set(KIND_STYLES)
    shown = blocks(page, FORCE_COLOR="1", TERM="xterm")
    assert re.search(r"\x1b\[34mnavigation\x1b", shown.stdout)


def test_a_page_of_the_demo_web_is_fetched_by_its_address() -> None:
    shown = blocks("--web", "demo", DEMO, "--json")
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert (document["url"], document["encoding"], document["level"]) == (DEMO, "gb18030", 3)
    assert document["size"] == sum(document["layout"]) + sum(
        block["end"] - block["start"] for block in innermost(document["blocks"])
    )


def innermost(records: list[dict]) -> Iterator[dict]:
    for record in records:
        yield from innermost(record["children"]) if record["children"] else [record]


@each("method", [*partitioner_names(), "quark:min_text=9999;theta=1"])
def test_every_method_can_be_asked_for(page, method, capsys):
    given = ("--method", method, "--encoding", "gb2312", "--url", "http://h.test/a/")
    assert run(page, "--json", *given) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["method"], document["encoding"]) == (method, "gb18030")
    assert document["url"] == "http://h.test/a/"
    assert document["blocks"]


def test_json_is_utf_8_whatever_the_terminal_speaks(page: str) -> None:
    shown = blocks(page, "--json", PYTHONIOENCODING="ascii")
    assert "光的折射" in json.loads(shown.stdout)["blocks"][0]["text"] + shown.stdout


def test_text_is_the_title_and_the_paragraphs_of_the_page_and_a_drawing_shows_it(page, capsys):
    assert run(page, "--format", "txt") == 0
    shown = capsys.readouterr().out
    paragraphs = shown.split("\n\n")
    assert "光的折射" in paragraphs[0] or "光学实验" in paragraphs[0]
    assert any(text.strip().startswith("在折射现象中，光路是可逆的") for text in paragraphs)
    assert "网站地图" not in shown
    assert run(page, "--html") == 0
    assert "srcdoc=" in capsys.readouterr().out


def test_a_page_comes_from_standard_input_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAGE.encode("utf-16"))))
    assert run("-", "--json") == 0
    assert json.loads(capsys.readouterr().out)["encoding"] == "utf-16-le"


def test_nothing_a_page_says_acts_upon_the_terminal(tmp_path, capsys):
    file = tmp_path / "page.html"
    hostile = "[red]lens[/red] \x1b]0;owned\x07\x1b[2J\x9b31m \u202e"
    file.write_text(f"<title>{hostile}</title><div><p>{hostile * 9}<p>{hostile}</div>" * 5)
    for form in ((), ("--format", "txt")):
        run(str(file), *form)
        shown = capsys.readouterr().out
        assert not [c for c in shown if not c.isprintable() and c != "\n"]
        assert "[red]lens[/red]" in shown


def test_a_page_is_fetched_from_this_machine_where_that_is_asked_for(site, answers):
    answers["/"] = Answer(status=302, headers={"Location": site.url("/new/")})
    kind = {"Content-Type": "text/html; charset=gb2312"}
    answers["/new/"] = Answer(PAGE.encode("gb18030"), headers=kind)
    shown = blocks(site.url(), "--json")
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert (document["url"], document["encoding"]) == (site.url("/new/"), "gb18030")
    assert "/robots.txt" in site.asked


@each(
    "answer, said",
    [
        (Answer(b"<p>gone", 404), "HTTP 404"),
        (
            Answer(b"%PDF-1.4", headers={"Content-Type": "application/pdf"}),
            "no HTML page: application/pdf",
        ),
        (Answer(status=302, headers={"Location": "/"}), ""),
    ],
)
def test_an_answer_that_is_no_page_is_one_sentence(site, answers, answer, said):
    answers["/"] = answer
    shown = blocks(site.url())
    assert (shown.returncode, shown.stdout) == (1, "")
    [line] = shown.stderr.splitlines()
    assert line.startswith(f"scrapy blocks: {site.url()}: {said}")


def test_a_public_page_leads_to_no_private_address(site, answers):
    public = "http://public.example.org"  # asked for through a proxy, so no name is looked up
    answers |= {
        f"{public}/": Answer(status=302, headers={"Location": site.url("/secret")}),
        f"{public}/good": Answer(status=302, headers={"Location": f"{public}/page"}),
        f"{public}/page": Answer(PAGE.encode()),
        site.url("/secret"): Answer(PAGE.encode()),
    }
    proxy = {"http_proxy": site.url(""), "no_proxy": "127.0.0.1"}
    shown = blocks(f"{public}/", **proxy)
    assert shown.returncode == 1
    assert "leads to 127.0.0.1" in shown.stderr
    assert not [path for path in site.asked if "secret" in path]
    assert blocks(f"{public}/good", **proxy).returncode == 0


def test_metadata_is_shown_by_the_rules_of_the_setting(page, capsys):
    rules = {"MMCRAWL_METADATA": '{"first": "css h1, h2", "year": "url [0-9]{4}"}'}
    given = (page, "--url", "http://h.test/2010/")
    assert exit_code(module.Command, *given, "--json", **rules) == 0
    assert json.loads(capsys.readouterr().out)["metadata"]["year"] == "2010"
    assert exit_code(module.Command, *given, **rules) == 0
    assert "year: 2010" in capsys.readouterr().out


def test_a_page_that_would_lead_on_by_itself_is_shown(site, answers):
    refresh = f'<meta http-equiv=refresh content="0;url={site.url("/next")}">'.encode()
    answers["/"] = Answer(refresh + PAGE.encode())
    shown = blocks(site.url(), "--json")
    assert json.loads(shown.stdout)["url"] == site.url()
    assert "/next" not in site.asked
