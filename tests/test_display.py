import io
import re
from collections import Counter
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, RenderableType

from mmcrawl.commands.terminal import (
    Progress,
    Summary,
    closing_tables,
    progress_line,
    progress_panel,
)
from mmcrawl.frontier import MediaPageRecord, NearMiss, PatternRecord
from mmcrawl.page import MediaResource
from tests.tables import each

PROGRESS = Progress(
    pages=1234,
    pages_per_second=5.678,
    media_pages=56,
    media={"audio": 7, "video": 89, "animation": 10},
    harvest_rate=0.4567,
    waiting=321,
    held=21,
    patterns=3,
    errors=4,
    refused={"other site": 77},
)


def media_page(
    number: int = 1, title: str = "光的折射 lens", url: str = "http://a.test/1.htm"
) -> MediaPageRecord:
    films = tuple(MediaResource(f"http://a.test/{i}.mp4", "video", "a", "") for i in range(number))
    song = MediaResource("http://a.test/1.mp3", "audio", "a", "")
    return MediaPageRecord(url, title, 0.876, ("光",), 200, 0.0, (*films, song))


SUMMARY = Summary(
    job="urlrule-physics-senior-abc123",
    topic="高中物理 (Senior secondary physics)",
    algo="urlrule",
    ending="Finished: every link that may be followed was fetched.",
    progress=PROGRESS,
    seconds=75.2,
    best=[media_page(3)],
    patterns=[PatternRecord("a.test", "http://a.test/ke/*", 42, 2, 0)],
    errors=Counter({"HTTP 404": 9, "host not found": 2}),
)


def shown(what: RenderableType, width: int = 120) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(what, crop=False)
    return file.getvalue()


def words(what: RenderableType, width: int = 120) -> str:
    return " ".join(re.sub("[│┃]", " ", shown(what, width)).split())


def test_the_progress_line_has_every_number() -> None:
    assert progress_line(PROGRESS) == (
        "1234 pages (5.7/s), 56 with media on topic (7 audio, 89 video, 10 animation),"
        " harvest rate 46%, 321 waiting, 3 patterns, 4 errors, less than 1 min left"
    )


def test_the_time_left_is_that_of_the_budget_or_of_what_waits() -> None:
    slow = replace(PROGRESS, pages_per_second=0.5)
    assert slow.time_left == "about 11 min left"
    assert replace(slow, most_pages=1_354).time_left == "about 4 min left"
    assert not replace(slow, pages_per_second=0.0).time_left


def test_near_misses_are_listed_with_the_threshold_that_takes_them() -> None:
    near = [NearMiss(f"http://a.test/{n}", f"牛顿定律 {n}", 0.49 - n / 100) for n in range(12)]
    text = words(closing_tables(replace(SUMMARY, near=near)))
    assert "12 pages with media" in text
    assert "0.49 牛顿定律 0 http://a.test/0" in text
    assert "THRESHOLD=0.38" in text


def test_the_progress_panel_has_every_number() -> None:
    text = words(progress_panel(PROGRESS))
    for part in (
        "pages 1234 (5.7/s)",
        "found audio 7 video 89 animation 10",
        "harvest rate 46% of the last 500",
        "waiting 321 (+21 held)",
    ):
        assert part in text
    assert "held" not in words(progress_panel(replace(PROGRESS, held=0)))


def test_long_tables_say_how_much_they_leave_out_and_empty_ones_are_none() -> None:
    patterns = [PatternRecord("a.test", f"http://a.test/{i}/*", 2, 2, 0) for i in range(15)]
    any_topic = [replace(page, topic_score=0.0) for page in SUMMARY.best]
    long = replace(SUMMARY, patterns=patterns, errors=Counter(), best=any_topic)
    text = words(closing_tables(long))
    assert "http://a.test/9/*" in text
    assert "http://a.test/10/*" not in text
    assert "… and 5 more" in text
    assert "Not fetched" not in text
    assert "0.00" not in text  # where any topic will do no score is shown


@each("text", ["[red]alert[/red]", "[/]", "lens\\", "[bold", ":smiley: [1]"])
def test_markup_in_what_a_site_says_is_shown_as_it_stands(text: str) -> None:
    assert words(closing_tables(summary_of(text))).count(text) == 4


@each("code", ["\x1b]0;title\x07", "\x9b2J", "\x00", "\u202e", "\u2028", "\ud800"])
def test_no_control_character_of_a_site_reaches_the_terminal(code: str) -> None:
    text = shown(closing_tables(summary_of(f"le{code}ns")))
    assert not [c for c in text if not c.isprintable() and c != "\n"]
    assert re.search("le.*ns", text)


def summary_of(said: str) -> Summary:
    """Return a summary in which a site says something in each table."""
    return replace(
        SUMMARY,
        best=[media_page(title=said, url=f"http://a.test/{said}")],
        patterns=[PatternRecord("a.test", f"http://b.test/{said}*", 2, 2, 0)],
        errors=Counter({f"no page: {said}": 1}),
    )


def test_the_closing_tables_tell_what_was_found_learnt_and_not_had() -> None:
    text = words(closing_tables(SUMMARY))
    for part in (
        "高中物理 (Senior secondary physics) by urlrule, job urlrule-physics-senior-abc123",
        "pages crawled 1234 in 75 s",
        "with media on topic 56 (4.5%)",
        "video resources 89",
        "links still waiting 342",
        "0.88 1 audio, 3 video 光的折射 lens http://a.test/1.htm",
        "… and 55 more; -O media.jsonl or -O media.csv writes them all",
        "42 http://a.test/ke/*",
        "9 HTTP 404",
        "2 host not found",
        "77 other site",
    ):
        assert part in text
    assert text.endswith(SUMMARY.ending)


@each("width", [40, 200])
def test_the_tables_keep_to_the_width_of_the_terminal(width: int) -> None:
    long = media_page(title="光学课件" * 30, url="http://a.test/" + "long/" * 40)
    summary = replace(
        SUMMARY,
        best=[long],
        patterns=[PatternRecord("a.test", "http://a.test/" + "x" * 200 + "/*", 2, 2, 0)],
        errors=Counter({"reason " * 30: 1}),
    )
    for what in (closing_tables(summary), progress_panel(PROGRESS)):
        for line in shown(what, width).splitlines():
            assert cell_len(line) <= width or line.strip() == long.url  # which can be copied
    assert "harvest rate 46% of the last 500" in words(progress_panel(PROGRESS), width)
    narrow = re.sub(r"[\s│┃]", "", shown(closing_tables(summary), width))
    assert "x" * 200 in narrow
    assert SUMMARY.ending.replace(" ", "") in narrow
    assert "links still waiting" in words(closing_tables(summary), width)
