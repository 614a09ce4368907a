"""Scrapy's own commands, and spiders that are not ours, in the folder of the project."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from mmcrawl.spiders import CollectSpider, FocusedSpider, RevisitSpider
from tests.programs import typed
from tests.serving import Answer, Server
from tests.tables import each

ROOT = Path(__file__).resolve().parents[2]
PAGE = (
    b"<title>Optics</title><h1>Optics: refraction by a lens</h1><a href='a.mp4'>optics film</a>"
    b"<a href='next.html'>next</a><a rel='nofollow' href='private.html'>private</a>"
)
PLAIN = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "SPIDER_MIDDLEWARES": {},
    "DOWNLOADER_MIDDLEWARES": {},
    "ITEM_PIPELINES": {},
    "EXTENSIONS": {},
    "FEED_EXPORTERS": {},
}


@pytest.fixture
def site() -> Iterator[Server]:
    """A site of two pages."""
    with Server(dict.fromkeys(("/", "/next.html"), Answer(PAGE))) as server:
        yield server


def scrapy(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a folder, which stays as it was."""
    before = sorted(folder.rglob("*"))
    environment = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    options = ("-s", "REMOTE_CONTROL_ENABLED=0", "-s", "AUTOTHROTTLE_ENABLED=0")
    done = typed(*arguments, *options, folder=folder, env=environment)
    assert "Traceback" not in done.stderr, done.stderr
    assert arguments[0] == "genspider" or sorted(folder.rglob("*")) == before
    return done


def test_fetch_and_shell_fetch_what_is_asked(site: Server, tmp_path: Path) -> None:
    spider = ("--spider", "focused")
    fetched = scrapy(tmp_path, "fetch", "--nolog", site.url())
    assert (fetched.returncode, fetched.stdout.encode().strip()) == (0, PAGE)
    code = "print(response.css('title::text').get())"
    shell = scrapy(tmp_path, "shell", "--nolog", *spider, site.url(), "-c", code)
    assert (shell.returncode, shell.stdout.split()) == (0, ["Optics", "None"])


def test_parse_shows_the_page_and_its_links(site: Server, tmp_path: Path) -> None:
    parsed = scrapy(tmp_path, "parse", "--nolog", "--nocolour", "--spider", "focused", site.url())
    assert parsed.returncode == 0
    assert (
        parsed.stderr == "scrapy parse: the topic is physics-senior; -a topic=NAME takes another\n"
    )
    for shown in (
        "'title': 'Optics'",
        f"'video': ['{site.url()}a.mp4']",
        f"<GET {site.url()}next.html>",
    ):
        assert shown in parsed.stdout
    assert "private.html" not in parsed.stdout
    assert site.asked == ["/robots.txt", "/"]


def test_parse_scores_by_the_topic_that_is_given(site: Server, tmp_path: Path) -> None:
    arguments = ("parse", "--nolog", "--nocolour", "--spider", "focused", site.url(), "-a")
    off_topic = scrapy(tmp_path, *arguments, "keywords=violin")
    assert (off_topic.stderr, "'topic_score': 0.0" in off_topic.stdout) == ("", True)
    wrong = scrapy(tmp_path, *arguments, "topic=astrology")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("scrapy parse: unknown topic 'astrology'")


def test_a_generated_spider_crawls_with_scrapys_own_partitions(site, tmp_path):
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").touch()
    modules = ("-s", "SPIDER_MODULES=mine", "-s", "NEWSPIDER_MODULE=mine")
    made = scrapy(tmp_path, "genspider", "lens", "127.0.0.1", *modules)
    assert made.returncode == 0
    source = package / "lens.py"
    text = source.read_text().replace("https://127.0.0.1", site.url())
    source.write_text(text.replace("pass", "yield {'url': response.url}"))
    crawled = scrapy(tmp_path, "crawl", "lens", "-o", "-:json", "-s", "STATS_DUMP=True", *modules)
    assert crawled.returncode == 0
    assert json.loads(crawled.stdout) == [{"url": site.url()}]
    assert site.asked == ["/robots.txt", "/"]
    assert "Dumping Scrapy stats" in crawled.stderr
    assert "mmcrawl.engine.middlewares" not in crawled.stderr


def settings_of(spider: type[Spider], **given: object) -> Settings:
    """Return the settings of a crawl whose user gave some with `-s`."""
    settings = Settings()
    settings.setmodule("mmcrawl.settings")
    settings.setdict(given, priority="cmdline")
    return Crawler(spider, settings).settings


def test_other_spiders_have_scrapys_parts_and_ours_have_ours() -> None:
    remote = "scrapy.extensions.remote_control.RemoteControl"  # loaded only where it is on
    for is_on in (False, True):
        base = settings_of(FocusedSpider, REMOTE_CONTROL_ENABLED=is_on).getdict("EXTENSIONS_BASE")
        assert (remote in base, "scrapy.extensions.corestats.CoreStats" in base) == (is_on, True)
    plain = settings_of(Spider)
    assert {name: plain[name] for name in PLAIN} == PLAIN
    ours = settings_of(FocusedSpider)
    assert ours["SCHEDULER"] == "mmcrawl.engine.scheduler.FocusedScheduler"
    assert all(ours.getdict(name) for name in PLAIN.keys() - {"SCHEDULER"})
    revisits = settings_of(RevisitSpider)
    assert revisits["SCHEDULER"] == PLAIN["SCHEDULER"]
    assert not revisits.getdict("SPIDER_MIDDLEWARES")
    assert revisits.getdict("ITEM_PIPELINES") == {"mmcrawl.pipelines.archive.ArchivePipeline": 100}


def test_the_project_in_this_folder_names_our_pipelines_and_has_each_once() -> None:
    settings = Settings()
    settings.setmodule("spiders.settings")
    named = settings.getdict("ITEM_PIPELINES")
    assert named
    for spider in (FocusedSpider, RevisitSpider, Spider):
        assert Crawler(spider, settings.copy()).settings.getdict("ITEM_PIPELINES") == named
    ours = settings_of(FocusedSpider).getdict("ITEM_PIPELINES")
    assert {load_object(path): place for path, place in named.items()} == {
        load_object(path): place for path, place in ours.items()
    }
    left_out = settings_of(FocusedSpider, ITEM_PIPELINES={"pipelines.MediaPipeline": None})
    assert load_object("pipelines.MediaPipeline") not in {
        load_object(path)
        for path in left_out.get_component_priority_dict_with_base("ITEM_PIPELINES")
    }


def test_what_the_user_gives_stays_beside_our_parts() -> None:
    own = {"EXTENSIONS": {"theirs.Extension": 7}, "CONCURRENT_ITEMS": 9}
    theirs = type("Theirs", (FocusedSpider,), {"custom_settings": own})
    given = '{"theirs.Pipeline": 300, "mmcrawl.pipelines.archive.ArchivePipeline": null}'
    settings = settings_of(theirs, ITEM_PIPELINES=given, SCHEDULER="theirs.Scheduler")
    assert settings["SCHEDULER"] == "theirs.Scheduler"
    assert settings["CONCURRENT_ITEMS"] == 9
    assert settings["EXTENSIONS"]["theirs.Extension"] == 7
    assert settings["EXTENSIONS"]["mmcrawl.commands.terminal.extensions.CrawlProgress"] == 500
    assert settings["ITEM_PIPELINES"]["theirs.Pipeline"] == 300
    assert settings["ITEM_PIPELINES"]["mmcrawl.pipelines.archive.ArchivePipeline"] is None
    assert settings["ITEM_PIPELINES"]["mmcrawl.pipelines.pages.MediaPipeline"] == 900


@each("spider", [FocusedSpider, RevisitSpider, CollectSpider])
def test_stats_and_telnet_stay_as_the_project_has_them(spider: type[Spider]) -> None:
    theirs = Settings({"STATS_DUMP": 1, "TELNETCONSOLE_ENABLED": 0})
    names = [name for name in theirs if name.startswith(("STATS", "TELNET"))]
    ours = Crawler(spider, theirs.copy()).settings
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}
