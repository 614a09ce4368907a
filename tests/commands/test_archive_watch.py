"""`scrapy archive watch` on both stores: what a person types, and what comes back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from mmcrawl.archive import open_archive
from mmcrawl.commands import archive as module
from tests.archive.conftest import STORES, URL, lesson, opened_uri
from tests.commands.running import Run, runner

OTHER = "http://optics.test/lens.html"
DAY = 86_400.0
CAMERA = "so do cameras."


@pytest.fixture(params=STORES)
def run(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    """Run the command on an archive of two pages; return exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    with opened_uri(request.param, tmp_path) as uri:
        with open_archive(uri) as archive:
            archive.store(lesson(0))
            archive.store(lesson(DAY, advert="Buy mirrors"))
            archive.store(lesson(2 * DAY, advert="Buy mirrors", text=CAMERA))
            archive.store(lesson(0, url=OTHER))
            archive.store(lesson(3 * DAY, url=OTHER, text=CAMERA))
            archive.store(lesson(4 * DAY, url=OTHER, text=CAMERA, head="Lenses, 23 May"))

        given = runner(module.Command, capfd)
        yield lambda *args, **settings: given("watch", *args, "-a", f"archive={uri}", **settings)


def urls(run: Run, *args: str, **settings: object) -> list[tuple[str, str]]:
    code, out, err = run(*args, "--json", **settings)
    assert (code, err) == (0, "")
    return [(line["url"], line["date"][:10]) for line in map(json.loads, out.splitlines())]


def test_pages_whose_kinds_that_count_changed_are_listed_newest_first(run: Run) -> None:
    assert urls(run) == [(OTHER, "1970-01-04"), (URL, "1970-01-03")]
    adverts = urls(run, MMCRAWL_REVISIT_KINDS="advertisement")
    assert adverts == [(URL, "1970-01-02")]


def test_a_page_a_host_a_kind_an_element_and_a_time_are_watched(run: Run) -> None:
    assert urls(run, URL.replace("http:", "HTTP:")) == [(URL, "1970-01-03")]
    assert urls(run, "--host", "OPTICS.test") == [(OTHER, "1970-01-04")]
    assert urls(run, "--kind", "advertisement") == [(URL, "1970-01-02")]
    assert urls(run, URL, "--kinds", "advertisement,topic") == [
        (URL, "1970-01-03"),
        (URL, "1970-01-02"),
    ]
    assert urls(run, "--css", ".advert p") == [(URL, "1970-01-02")]
    assert urls(run, "--since", "1970-01-03T12:00") == [(OTHER, "1970-01-04")]
    assert urls(run, "--limit", "1") == [(OTHER, "1970-01-04")]


def test_words_outside_of_all_blocks_are_watched_where_they_are_named(run: Run) -> None:
    assert urls(run, "--kind", "layout") == [(OTHER, "1970-01-05")]
    named = urls(run, MMCRAWL_REVISIT_KINDS="layout,topic")
    assert named == [(OTHER, "1970-01-05"), (OTHER, "1970-01-04"), (URL, "1970-01-03")]
    _, out, _ = run("--kind", "layout")
    assert out.splitlines()[1].strip() == "changed layout"
    assert "{+, 23 May+}" in out


def test_the_words_that_changed_are_shown(run: Run) -> None:
    code, out, err = run(URL)
    assert (code, err) == (0, "")
    first, block, words, count = out.splitlines()
    assert first == f"1970-01-03 00:00:00 UTC  {URL}  versions 2 → 3"
    assert block.startswith("  changed topic  ")
    assert block.endswith("html/body/div/p")
    assert words.strip().startswith("… ")
    assert words.strip().endswith("; so [-does the eye-] {+do cameras+} .")
    assert count == "1 change"
    assert run("--since", "2000-01-01")[1].strip() == "0 changes"


def test_programs_get_each_block_with_its_words(run: Run) -> None:
    _, out, _ = run(URL, "--json")
    [line] = out.splitlines()
    record = json.loads(line)
    assert (record["old"], record["new"], record["time"]) == (2, 3, 2 * DAY)
    [block] = record["blocks"]
    assert block.keys() == {"change", "kind", "topic", "path", "words"}
    assert (block["change"], block["kind"], block["path"]) == (
        "changed",
        "topic",
        "html/body/div/p",
    )
    assert {"change": "added", "text": "do cameras"} in block["words"]


def test_a_feed_is_written(run: Run, tmp_path: Path) -> None:
    code, out, err = run("--atom", "watch.atom", "--browser", "https://archive.test/mm")
    assert (code, out, err) == (0, "watch.atom: 2 changes\n", "")
    text = (tmp_path / "watch.atom").read_text()
    links = [link.get("href") for link in etree.fromstring(text.encode()).iter("{*}link")]
    assert links[0] == "https://archive.test/mm/"
    assert links[1].startswith("https://archive.test/mm/diff?url=http%3A%2F%2Foptics.test%2F")
    assert run("--atom", "-", "--browser", "https://archive.test/mm")[1] == text
