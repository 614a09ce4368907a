from pathlib import Path

import pytest

from mmcrawl.errors import WebError
from mmcrawl.replay import DemoWeb, FolderWeb, Latency, StoredWeb, open_web
from tests.tables import each


def test_demo_is_the_web_that_ships_with_mmcrawl() -> None:
    web: StoredWeb = open_web("demo")
    assert isinstance(web, DemoWeb)


def test_a_folder_with_a_folder_per_host_is_a_folder_web(tmp_path: Path) -> None:
    (tmp_path / "a.test").mkdir()
    web: StoredWeb = open_web(str(tmp_path))
    assert isinstance(web, FolderWeb)


def test_what_is_no_web_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    cases = {
        "nowhere": "does not exist",
        "notes.txt": "is no stored web",
        "empty": "is empty",
        "x\0y": "x",
    }
    for name, message in cases.items():
        with pytest.raises(WebError, match=message) as caught:
            open_web(str(tmp_path / name))
        assert "\n" not in str(caught.value)
    with pytest.raises(WebError, match="does not exist"):
        open_web("")


@each("name", ["~nosuchuser/web", "x" * 300])
def test_a_path_that_cannot_be_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(WebError, match=r"does not exist|cannot be read"):
        open_web(name)


def test_latency_is_one_number_or_one_per_host() -> None:
    assert Latency.parse(None) == Latency.parse("") == Latency()
    assert Latency.parse("50").seconds("any.test") == 0.05
    assert Latency.parse(0.5).seconds("any.test") == 0.0005
    latency = Latency.parse('{"Slow.test": 900, "*": 20}')
    assert (latency.seconds("slow.test"), latency.seconds("a.test")) == (0.9, 0.02)
    assert Latency.parse({"slow.test": 900}).seconds("a.test") == 0


@each("value", ["fast", "-1", -1, True, "NaN", [1], {"a.test": "x"}, "[1]"])
def test_a_wrong_latency_is_refused(value: object) -> None:
    with pytest.raises(WebError, match="no latency"):
        Latency.parse(value)
