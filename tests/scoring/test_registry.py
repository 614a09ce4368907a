"""Algorithms by name, those of other packages included."""

import pytest

from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring import Breadth, LinkSimilarity, UrlRule, algorithm_names, make_scorer
from mmcrawl.topic import Topic

SIMILARITY = LinkSimilarity(Topic("optics", "光学", (("光学",),)))


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Install a package that registers an algorithm `deepest`."""
    info = tmp_path / "deepest-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: deepest\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mmcrawl.scorers]\ndeepest = deepest_first:Deepest\n")
    (tmp_path / "deepest_first.py").write_text(
        "from mmcrawl.scoring import Breadth\n"
        "class Deepest(Breadth):\n"
        "    name = 'deepest'\n"
        "    def __init__(self, source, similarity, *, layers=3):\n"
        "        self.layers = layers\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(("name", "kind"), [("breadth", Breadth), ("urlrule", UrlRule)])
def test_an_algorithm_is_made_by_its_name(name, kind):
    scorer = make_scorer(name, None, SIMILARITY)
    assert isinstance(scorer, kind)
    assert scorer.name == name


def test_algorithms_are_listed():
    assert {"breadth", "urlrule"} <= set(algorithm_names())
    assert algorithm_names() == sorted(algorithm_names())


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(
        MmcrawlError, match=r"unknown algorithm 'depth'; there are breadth, .*urlrule"
    ):
        make_scorer("depth", None, SIMILARITY)


@pytest.mark.parametrize("name", ["breadth", "urlrule"])
def test_a_parameter_the_algorithm_does_not_have_is_named(name):
    with pytest.raises(MmcrawlError, match=rf"^algorithm {name}: .*'speed'"):
        make_scorer(name, None, SIMILARITY, speed=3)


@pytest.mark.usefixtures("plug_in")
def test_another_package_can_register_an_algorithm():
    assert "deepest" in algorithm_names()
    assert make_scorer("deepest", None, SIMILARITY, layers=5).layers == 5
    with pytest.raises(MmcrawlError, match=r"algorithm deepest: .*'hard'"):
        make_scorer("deepest", None, SIMILARITY, hard=True)
