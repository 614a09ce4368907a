"""`scrapy topic`: what a person types, and what comes back."""

import subprocess
from pathlib import Path

from tests.commands.running import ran
from tests.programs import typed
from tests.tables import each

ROOT = Path(__file__).parents[2]


def topic(*args: str) -> subprocess.CompletedProcess[str]:
    fetches = "--web" in args or "-s" in args or any(arg.startswith("http:") for arg in args)
    return (typed if fetches else ran)("topic", *args, folder=ROOT)


def test_list_names_every_topic() -> None:
    shown = topic("list")
    assert shown.returncode == 0
    names = {path.stem for path in (ROOT / "dictionaries" / "topics").glob("*.toml")}
    assert {line.split()[0] for line in shown.stdout.splitlines()[1:-1]} == names


def test_list_names_a_topic_that_cannot_be_read_and_shows_the_others(tmp_path: Path) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "physics-senior.txt").write_bytes(b"lever\n\0\n")
    shown = ran("topic", "list", folder=tmp_path)
    assert shown.returncode == 2
    assert "physics-senior.txt" in shown.stderr
    assert "chemistry-senior" in shown.stdout


def test_find_tells_the_topics_of_a_word_and_the_media_it_counts_for() -> None:
    shown = topic("find", "photosynthesis").stdout.splitlines()
    rows = {line.split()[0]: line for line in shown[1:]}
    assert list(rows) == ["biology-junior", "biology-senior", "science-primary"]
    assert all(row.count("✓") == 4 for row in rows.values())
    assert all("光合作用" in row for row in rows.values())
    [head, row] = topic("find", "多普勒效应").stdout.splitlines()
    assert row.count("✓") == 1
    assert head.index("audio") <= row.index("✓") < head.index("video")
    assert "No topic that ships contains" in topic("find", "zzzz").stdout


def test_show_gives_words_in_both_languages_and_their_source() -> None:
    shown = topic("show", "physics-senior").stdout
    assert "电磁感应 | electromagnetic induction" in shown
    assert "Source: Chinese national curriculum" in shown
    assert "only when audio is wanted" in shown


def test_score_of_a_stored_page_tells_words_places_and_verdict() -> None:
    page = "http://wuli.demo.test/gaozhong/wuli/donghua/dongliang09.htm"
    shown = topic("score", "--web", "demo", "--topic", "physics-senior", page)
    assert shown.returncode == 0
    why = next(
        line for line in shown.stdout.splitlines() if "动量守恒" in line and "title (1)" in line
    )
    assert "keywords (0.7)" in why
    assert "animation" in shown.stdout
    assert "threshold 0.5: relevant to 高中物理" in shown.stdout
    nearest = topic("score", "--web", "demo", "--media", "audio", page).stdout
    assert "not relevant (none of the wanted media)" in nearest
    ranking = nearest[nearest.index("Nearest topics") :]
    assert ranking.index("physics-senior") < ranking.index("mathematics")


def test_score_adds_up_to_what_is_said(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<title>cat physics</title><a href=a.mp4>watch</a>", encoding="utf-8")
    shown = " ".join(topic("score", "--topic", "physics-senior", str(file)).stdout.split())
    assert "1.00 │ 物理 │ title (1)" in shown
    assert "the strongest word is discounted by 0.25" in shown
    assert "score = 0.75 / (0.75 + 1) = 0.43, threshold 0.5: not relevant (not on topic)" in shown
    shown = topic("score", "--keywords", "cat physics", str(file)).stdout
    assert "discounted" not in shown
    assert "score = 1.00 / (1.00 + 1) = 0.50, threshold 0.5: relevant to" in shown


def test_score_of_a_file_uses_the_address_given(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes("<title>光学</title><p>没有媒体".encode("gb18030"))
    shown = topic(
        "score", "--keywords", "光学|optics", "--url", "http://h.test/wuli/", str(file)
    ).stdout
    assert "wuli→物理" in shown
    assert "title        光学" in shown
    assert "no audio, video or swf on this page" in shown
    assert "not relevant (no media)" in shown


def test_a_relevant_page_is_said_to_be_judged_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    for media, said in (("a.mp4", True), ("a.htm", False)):
        file.write_text(f"<title>lens</title><a href={media}>a</a>")
        shown = topic("score", "--keywords", "lens", str(file)).stdout
        assert ("a crawl leaves out media that stand on most pages of a site" in shown) is said


def test_nothing_a_page_says_acts_upon_the_terminal(tmp_path: Path) -> None:
    hostile = "[red]lens[/red] \x1b]0;owned\x07\x1b[2J\x9b31m"
    file = tmp_path / "page.html"
    file.write_text(
        f"<title>{hostile}</title><meta name=keywords content='{hostile}'>"
        f"<meta name=description content='{hostile}'><a href='a.mp3'>{hostile}</a>",
        encoding="utf-8",
    )
    shown = topic("score", "--keywords", "lens", str(file)).stdout
    assert not [c for c in shown if not c.isprintable() and c != "\n"]
    assert shown.count("[red]lens[/red]") >= 4


@each(
    "args, code, said",
    [
        (["--web", "demo", "http://wuli.demo.test/neibu/"], 1, "forbidden by robots.txt"),
        (["-s", "MMCRAWL_TOPIC_THRESHOLD=1", "x"], 2, "MMCRAWL_TOPIC_THRESHOLD must be"),
    ],
)
def test_what_cannot_be_scored_is_one_sentence(args: list[str], code: int, said: str) -> None:
    shown = topic("score", *args)
    assert (shown.returncode, shown.stdout) == (code, "")
    [line] = shown.stderr.splitlines()
    assert said in line


def test_characters_that_a_terminal_lacks_are_written_as_numbers() -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    shown = typed("topic", "show", "physics-senior", env=ascii_only, encoding=None)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"\\u5149" in shown.stdout
