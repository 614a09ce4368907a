"""Algorithms by name, those of other packages included."""

import sys
from math import inf

import pytest

from mmcrawl.errors import MmcrawlError
from mmcrawl.plugins import Registry
from mmcrawl.scoring import (
    LinkSimilarity,
    algorithm_names,
    default_parameters,
    is_random,
    make_scorer,
    parameter_ranges,
    parse_parameters,
)
from mmcrawl.topic import Topic
from tests.tables import each

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
        "    def __init__(self, source, similarity, *, layers=3, loud=False):\n"
        "        self.layers, self.loud = layers, loud\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    Registry.factory.cache_clear()
    sys.modules.pop("deepest_first", None)


def test_an_algorithm_is_free_of_chance_unless_it_says_otherwise(plug_in):
    from deepest_first import Deepest

    assert not is_random("breadth")
    assert is_random("tag-path")
    assert not is_random("deepest")
    Deepest.random = True
    assert is_random("deepest")


@pytest.mark.usefixtures("plug_in")
def test_another_package_can_register_an_algorithm():
    assert "deepest" in algorithm_names()
    assert make_scorer("deepest", None, SIMILARITY, layers=5).layers == 5
    with pytest.raises(MmcrawlError, match=r"deepest has no parameter 'lift'; it has layers, loud"):
        make_scorer("deepest", None, SIMILARITY, lift=1)


@pytest.mark.usefixtures("plug_in")
def test_parameters_are_read_by_the_type_of_their_default():
    assert parse_parameters("urlrule", {"alpha": "0.5", "m": "7"}) == {"alpha": 0.5, "m": 7}
    assert parse_parameters("deepest", {"loud": "yes"}) == {"loud": True}
    with pytest.raises(MmcrawlError, match=r"^loud: 'maybe' .*; it may be true or false$"):
        parse_parameters("deepest", {"loud": "maybe"})


@each("name", algorithm_names())
def test_every_number_a_user_can_give_has_a_range_that_is_kept(name):
    defaults = default_parameters(name)
    for parameter, default in defaults.items():
        if isinstance(default, bool) or not isinstance(default, int | float):
            continue
        least, greatest = parameter_ranges(name)[parameter]
        assert least <= default <= greatest
        assert parse_parameters(name, {parameter: str(default)}) == {parameter: default}
        for wrong in [least - 1, *([greatest + 1] if greatest < inf else [])]:
            told = f"^algorithm {name}: {parameter} must be a number from"
            with pytest.raises(MmcrawlError, match=told):
                parse_parameters(name, {parameter: str(type(default)(wrong))})
