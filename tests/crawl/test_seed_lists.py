"""The seed lists that ship."""

from pathlib import Path

from mmcrawl.crawl import read_seeds
from mmcrawl.topic import load_topic, topic_names
from tests.tables import each

LISTS = sorted((Path(__file__).parents[2] / "seeds").glob("*.txt"))


@each("path", LISTS)
def test_list_can_be_read_and_is_described(path: Path) -> None:
    seeds = read_seeds(str(path))
    assert seeds
    assert all(load_topic(seed.topic) for seed in seeds if seed.topic)
    assert f"`{path.name}`" in (path.parent / "README.md").read_text(encoding="utf-8")
    assert path.stem in topic_names() or path.stem in {"demo", "sciences"}
