from pathlib import Path

from mmcrawl.replay import DemoWeb, FolderWeb, Latency, StoredWeb, open_web


def test_demo_is_the_web_that_ships_with_mmcrawl() -> None:
    web: StoredWeb = open_web("demo")
    assert isinstance(web, DemoWeb)


def test_a_folder_with_a_folder_per_host_is_a_folder_web(tmp_path: Path) -> None:
    (tmp_path / "a.test").mkdir()
    web: StoredWeb = open_web(str(tmp_path))
    assert isinstance(web, FolderWeb)


def test_latency_is_one_number_or_one_per_host() -> None:
    assert Latency.parse(None) == Latency.parse("") == Latency()
    assert Latency.parse("50").seconds("any.test") == 0.05
    assert Latency.parse(0.5).seconds("any.test") == 0.0005
    latency = Latency.parse('{"Slow.test": 900, "*": 20}')
    assert (latency.seconds("slow.test"), latency.seconds("a.test")) == (0.9, 0.02)
    assert Latency.parse({"slow.test": 900}).seconds("a.test") == 0
