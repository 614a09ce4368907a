"""`scrapy seeds`: hosts that what is stored shows to be promising, and seeds asked once."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.crawl import read_seeds
from tests.archive.warc.warc_files import Warc
from tests.commands.running import ran
from tests.programs import typed
from tests.serving import Answer, Server

_GOOD = "<title>optics</title><h1>optics</h1><audio src=/1.mp3>optics</audio>"
_LINKS = """<title>optics</title><h1>optics</h1><audio src=/1.mp3>optics</audio>
<a href="http://lenses.example.org/optics/">Optics with films</a>
<a href="http://share.example.com/button">Share</a><a href="http://10.0.0.7/optics">optics</a>"""
_OFF = '<title>cooking</title><a href="http://share.example.com/button">Share</a>'


def warc(path: Path, pages: dict[str, str]) -> None:
    """Write a WARC file of some pages."""
    file = Warc(path)
    for url, html in pages.items():
        file.response(url, html.encode())
    file.close()


def find(folder: Path, *words: str) -> list[dict]:
    """Return what `seeds find` writes as JSON Lines."""
    said = ran("seeds", "find", "--keywords", "optics", *words, "--format", "jsonl", folder=folder)
    assert said.returncode == 0, said.stderr
    return [json.loads(line) for line in said.stdout.splitlines()]


def test_the_hosts_of_a_warc_collection_are_ranked_with_reasons(tmp_path: Path) -> None:
    folder = tmp_path / "warcs"
    folder.mkdir()
    good = {f"http://good.example.org/{n}.htm": _GOOD for n in range(3)}
    warc(folder / "a.warc.gz", good | {"http://one.example.net/": _LINKS})
    warc(folder / "b.warc.gz", {f"http://off{n}.example.edu/": _OFF for n in range(5)})
    found = find(tmp_path, "--from", str(folder))
    assert [one["host"] for one in found[:3]] == [
        "good.example.org",
        "one.example.net",
        "lenses.example.org",
    ]
    assert "3 of 3 stored pages on topic with media" in found[0]["reasons"]
    assert found[2]["url"] == "http://lenses.example.org/optics/"
    assert "Optics with films" in found[2]["reasons"][0]
    hosts = {one["host"] for one in found}
    assert "10.0.0.7" not in hosts
    assert not any(host.startswith("off") for host in hosts)


def test_an_archive_a_cdx_and_a_list_are_read_and_known_hosts_left_out(tmp_path: Path) -> None:
    with open_archive(f"sqlite:///{tmp_path / 'a.db'}") as archive:
        headers = (("Content-Type", "text/html"),)
        archive.store(Capture("http://kept.example.org/", _GOOD.encode(), 1.0, headers=headers))
    line = b"org,example,cdx)/ 20240101000000 http://cdx.example.org/optics/1 text/html 200 A 1\n"
    (tmp_path / "c.cdx.gz").write_bytes(gzip.compress(line))
    (tmp_path / "list.txt").write_text("http://said.example.org/here\nhttp://known.example.org/\n")
    (tmp_path / "known.txt").write_text("http://known.example.org/elsewhere\n")
    found = find(tmp_path, "--from", "a.db", "c.cdx.gz", "list.txt", "--known", "known.txt")
    assert {one["host"]: one["url"] for one in found} == {
        "kept.example.org": "http://kept.example.org/",
        "cdx.example.org": "http://cdx.example.org/optics/1",
        "said.example.org": "http://said.example.org/here",
    }


def test_a_cdx_file_is_read_whatever_its_lines_and_told_if_it_is_damaged(tmp_path: Path) -> None:
    line = b"org,example,cdx)/ 20240101000000 http://cdx.example.org/optics/1 text/html 200 A 1\n"
    packed = gzip.compress(bytes(60 << 20) + b"\n" + line)
    (tmp_path / "c.cdx.gz").write_bytes(packed)
    assert [one["host"] for one in find(tmp_path, "--from", "c.cdx.gz")] == ["cdx.example.org"]
    (tmp_path / "c.cdx.gz").write_bytes(packed[:40] + b"\xff" * 40 + packed[80:])
    said = ran("seeds", "find", "--keywords", "optics", "--from", "c.cdx.gz", folder=tmp_path)
    assert "the CDX file c.cdx.gz cannot be read" in " ".join((said.stdout + said.stderr).split())
    assert "Traceback" not in said.stderr


def test_a_crawl_tells_by_the_links_it_left_and_by_its_archive(tmp_path: Path) -> None:
    site = tmp_path / "web" / "site.example.org"
    site.mkdir(parents=True)
    (site / "index.html").write_text(_LINKS)
    crawl = typed(
        "crawl", "focused", "-a", "web=web", "-a", "seeds=http://site.example.org/",
        "-a", "keywords=optics", "-a", "store=sqlite:///c.db", folder=tmp_path,
    )  # fmt: skip
    assert crawl.returncode == 0, crawl.stderr
    found = find(tmp_path, "--from", "c.db")
    assert [one["host"] for one in found[:2]] == ["site.example.org", "lenses.example.org"]


def test_what_is_found_can_be_written_as_a_list_that_a_crawl_takes(tmp_path: Path) -> None:
    warc(tmp_path / "a.warc.gz", {"http://good.example.org/x.htm": _GOOD})
    words = ("seeds", "find", "--keywords", "optics", "--from")
    said = ran(*words, "a.warc.gz", "-o", "found.txt", folder=tmp_path)
    assert said.returncode == 0, said.stderr
    seeds = read_seeds(str(tmp_path / "found.txt"))
    assert [seed.url for seed in seeds] == ["http://good.example.org/x.htm"]
    warc(tmp_path / "off.warc.gz", {"http://off.example.org/": _OFF})
    said = ran(*words, "off.warc.gz", folder=tmp_path)
    assert (said.returncode, said.stdout) == (1, "")
    assert "no promising host was found" in said.stderr


XML = {"Content-Type": "text/xml"}
PAGES = {
    "/": Answer('<html lang="de"><title>Optik</title><a href="/a">a</a><audio src="/1.mp3">'),
    "/old": Answer("", 302, {"Location": "/new"}),
    "/new": Answer("<title>moved</title>"),
    "/robots.txt": Answer(
        "User-agent: *\nDisallow: /private\nCrawl-delay: 2\nSitemap: /index.xml\n"
    ),
    "/index.xml": Answer(
        "<sitemapindex><sitemap><loc>/one.xml</loc></sitemap>"
        "<sitemap><loc>/index.xml</loc></sitemap></sitemapindex>",
        headers=XML,
    ),
    "/one.xml": Answer(
        "<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>", headers=XML
    ),
}


@pytest.fixture
def site() -> Iterator[Server]:
    with Server(PAGES) as server:
        yield server


def test_seeds_are_checked_by_asking_each_once(tmp_path: Path, site: Server) -> None:
    seeds = [
        f"{site.origin}/",
        f"{site.origin}/old",
        f"{site.origin}/private",
        f"{site.origin}/gone",
    ]
    (tmp_path / "seeds.txt").write_text("\n".join(seeds))
    said = typed(
        "seeds", "check", "seeds.txt", "--format", "jsonl", "-s", "DOWNLOAD_DELAY=0",
        "-s", "AUTOTHROTTLE_START_DELAY=0", folder=tmp_path,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    alive, moved, private, gone = (json.loads(line) for line in said.stdout.splitlines())
    assert (alive["state"], alive["language"], alive["links"], alive["media"]) == (
        "alive", "de", 1, 1,
    )  # fmt: skip
    assert (alive["listed"], alive["delay"]) == (2, 2.0)
    assert (moved["state"], moved["target"]) == ("redirects", f"{site.origin}/new")
    assert private["state"] == "robots.txt forbids it"
    assert (gone["state"], gone["reason"]) == ("dead", "HTTP 404")
    assert "/private" not in site.asked


def test_a_seed_that_leads_to_another_private_host_is_not_followed(tmp_path, site, monkeypatch):
    elsewhere = site.origin.replace("127.0.0.1", "127.0.0.2")
    refresh = Answer(f'<meta http-equiv="refresh" content="0;{elsewhere}">')
    monkeypatch.setitem(PAGES, "/away", refresh)
    monkeypatch.setitem(PAGES, "/robots.txt", Answer(f"Sitemap: {elsewhere}/one.xml\n"))
    (tmp_path / "seeds.txt").write_text(f"{site.origin}/away")
    said = typed("seeds", "check", "seeds.txt", "--format", "jsonl", folder=tmp_path)
    assert json.loads(said.stdout)["listed"] is None


def test_a_list_without_a_good_seed_is_no_success(tmp_path: Path, site: Server) -> None:
    (tmp_path / "seeds.txt").write_text(f"{site.origin}/gone")
    said = typed("seeds", "check", "seeds.txt", folder=tmp_path)
    assert said.returncode == 1
    assert said.stdout.startswith("# ")
    assert "HTTP 404" in said.stdout
