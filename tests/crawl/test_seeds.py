from pathlib import Path

import pytest

from mmcrawl.crawl import Seed, read_seeds
from mmcrawl.errors import SeedError
from mmcrawl.topic import load_topic, topic_names
from tests.tables import each


@pytest.fixture
def seed_file(tmp_path: Path) -> Path:
    return tmp_path / "seeds.txt"


def test_a_line_holds_a_url_a_topic_and_a_comment(seed_file: Path) -> None:
    seed_file.write_text(
        "\ufeff# schools\n\nhttp://a.test/x?b=1#top\n  b.test/path \t physics-senior  # good\r\n"
        "https://c.test #no topic\n",
        encoding="utf-8",
    )
    assert read_seeds(str(seed_file)) == [
        Seed("http://a.test/x?b=1#top"),
        Seed("http://b.test/path", "physics-senior"),
        Seed("https://c.test"),
    ]


@each(
    "text, urls",
    [
        ("http://a.test/", ["http://a.test/"]),
        ("a.test", ["http://a.test"]),
        ("a.test,b.test:8080", ["http://a.test", "http://b.test:8080"]),
        ("http://a.test/x, https://b.test/ ,", ["http://a.test/x", "https://b.test/"]),
        ("http://localhost:8000/a", ["http://localhost:8000/a"]),
        ("http://a.test/课 件", ["http://a.test/%E8%AF%BE%20%E4%BB%B6"]),
        ("http://[::1]:8080/", ["http://[::1]:8080/"]),
    ],
)
def test_urls_may_be_given_in_place_of_a_file(text: str, urls: list[str]) -> None:
    assert [seed.url for seed in read_seeds(text)] == urls


def test_a_url_given_twice_is_one_seed_with_the_last_topic(seed_file: Path) -> None:
    seed_file.write_text("a.test\nb.test\na.test physics-senior\n")
    assert read_seeds(str(seed_file)) == [
        Seed("http://a.test", "physics-senior"),
        Seed("http://b.test"),
    ]


def test_a_file_wins_over_a_host_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.test").write_text("b.test\n")
    assert read_seeds("a.test") == [Seed("http://b.test")]


@each("url", ["http://a.test/" + "x" * 5000, "http://a.test/" + "d/" * 3000])
def test_a_url_may_be_longer_than_any_file_name(url: str) -> None:
    assert read_seeds(f"{url},http://b.test/") == [Seed(url), Seed("http://b.test/")]


def test_what_has_the_form_of_a_url_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "http:").mkdir()
    (tmp_path / "http:" / "a.test").write_text("http://b.test/\n")
    assert read_seeds("http://a.test") == [Seed("http://a.test")]


@each("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030", "big5"])
def test_a_file_may_be_in_the_encodings_of_its_readers(encoding: str, seed_file: Path) -> None:
    text = "# 中文 物理\r\nhttp://a.test/中文/ # 的文件\r\nhttp://b.test/ physics-senior\r\n"
    seed_file.write_bytes(text.encode(encoding))
    assert read_seeds(str(seed_file)) == [
        Seed("http://a.test/%E4%B8%AD%E6%96%87/"),
        Seed("http://b.test/", "physics-senior"),
    ]


@each(
    "line",
    [
        "http://me:s3cret@a.test/",
        "me:s3cret@a.test/b",
        "ftp://me:s3cret@a.test/",
        "http://me:s3cret@a.test/ topic more",
        "http://me:s3/cret@a.test/",
        "http://me:s3cret@a.test:99999/",
    ],
)
def test_a_password_in_a_seed_is_refused_and_not_repeated(line: str, seed_file: Path) -> None:
    seed_file.write_text(line)
    with pytest.raises(SeedError) as caught:
        read_seeds(str(seed_file))
    assert "cret" not in str(caught.value)
    assert "line 1: " in str(caught.value)


@each("name", [".", "lists", "lists.txt"])
def test_a_folder_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir(exist_ok=True)
    with pytest.raises(SeedError, match=f"^{name} is a folder; give a seed file, or URLs"):
        read_seeds(name)


def test_every_bad_line_is_told(seed_file: Path) -> None:
    seed_file.write_text("http://[\nhttp://a.test/\nhttp://b.test/ astrology\nftp://c.test/\n")
    with pytest.raises(SeedError) as caught:
        read_seeds(str(seed_file))
    lines = [line.removeprefix(f"{seed_file}, ") for line in str(caught.value).splitlines()]
    assert lines[0] == "line 1: 'http://[' is no URL; write it as http://host/path"
    assert lines[1].startswith("line 3: unknown topic 'astrology'; ")
    assert lines[2] == "line 4: 'ftp://c.test/' is no URL; write it as http://host/path"
    assert len(lines) == 3


@each("path", sorted((Path(__file__).parents[2] / "seeds").glob("*.txt")))
def test_a_list_that_ships_can_be_read_and_is_described(path: Path) -> None:
    seeds = read_seeds(str(path))
    assert seeds
    assert all(load_topic(seed.topic) for seed in seeds if seed.topic)
    assert f"`{path.name}`" in (path.parent / "README.md").read_text(encoding="utf-8")
    assert path.stem in topic_names() or path.stem in {"demo", "sciences"}
