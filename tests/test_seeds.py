from pathlib import Path

import pytest

from mmcrawl.errors import SeedError
from mmcrawl.seeds import Seed, read_seeds


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


@pytest.mark.parametrize(
    ("text", "urls"),
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


def test_a_file_wins_over_a_host_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.test").write_text("b.test\n")
    assert read_seeds("a.test") == [Seed("http://b.test")]


@pytest.mark.parametrize("url", ["http://a.test/" + "x" * 5000, "http://a.test/" + "d/" * 3000])
def test_a_url_may_be_longer_than_any_file_name(url: str) -> None:
    assert read_seeds(f"{url},http://b.test/") == [Seed(url), Seed("http://b.test/")]


def test_what_has_the_form_of_a_url_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "http:").mkdir()
    (tmp_path / "http:" / "a.test").write_text("http://b.test/\n")
    assert read_seeds("http://a.test") == [Seed("http://a.test")]


@pytest.mark.parametrize("text", ["x" * 5000, "~nobody-of-that-name/seeds.txt", "a\0b/"])
def test_what_cannot_name_a_file_is_told(text: str) -> None:
    with pytest.raises(SeedError, match="there is no seed file"):
        read_seeds(text)


@pytest.mark.parametrize("text", ["nosuch.txt", "seeds/physics.txt", "nosuch", "list.csv"])
def test_a_missing_file_is_named(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SeedError, match=f"no seed file {text}; give a file, or URLs"):
        read_seeds(text)


@pytest.mark.parametrize("content", ["", "\n \n", "# nothing yet\n"])
def test_a_file_without_seeds_is_named(content: str, seed_file: Path) -> None:
    seed_file.write_text(content)
    with pytest.raises(SeedError, match=r"seeds\.txt names no seeds; write one URL a line"):
        read_seeds(str(seed_file))


@pytest.mark.parametrize(
    "line",
    [
        "ftp://a.test/",
        "http://",
        "http:///path",
        "http://[",
        "http://a.test:99999/",
        "http://a.test:0/",
        "http://a.test:port/",
        "javascript:alert(1)",
        "physics-senior",
        "http://a.test/ physics-senior biology-senior",
    ],
)
def test_a_bad_line_is_named_with_its_number(line: str, seed_file: Path) -> None:
    seed_file.write_text(f"http://good.test/\n# comment\n{line}\n")
    with pytest.raises(SeedError) as caught:
        read_seeds(str(seed_file))
    assert str(caught.value).startswith(f"{seed_file}, line 3: {line!r} ")


@pytest.mark.parametrize("text", ["ftp://a.test/", "http://", "http://a.test/,http://["])
def test_a_bad_url_is_named(text: str) -> None:
    bad = text.rpartition(",")[2]
    with pytest.raises(SeedError) as caught:
        read_seeds(text)
    assert str(caught.value) == f"seed {bad!r} is no URL; write it as http://host/path"


@pytest.mark.parametrize("encoding", ["utf-16", "gbk", "latin-1"])
def test_a_file_that_is_not_utf_8_is_told(encoding: str, seed_file: Path) -> None:
    text = "http://a.test/ # é" if encoding == "latin-1" else "http://a.test/ # 光学"
    seed_file.write_bytes(text.encode(encoding))
    with pytest.raises(SeedError, match=r"seeds\.txt is not UTF-8 text; save it as UTF-8"):
        read_seeds(str(seed_file))


def test_a_binary_file_that_happens_to_be_utf_8_is_told(seed_file: Path) -> None:
    seed_file.write_bytes("http://a.test/".encode("utf-16-le"))
    with pytest.raises(SeedError, match="line 1"):
        read_seeds(str(seed_file))


@pytest.mark.parametrize(
    "line",
    [
        "http://me:s3cret@a.test/",
        "me:s3cret@a.test/b",
        "https://me:s3cret@[::1]:8000/",
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
