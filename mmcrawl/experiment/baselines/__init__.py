"""The filters that Wang & Zhu (2012, section 4) measure their method against.

Each takes a page's tree and its measures, and returns the nodes whose text is kept and those whose
links are kept. They cut no blocks, so they are no partitioners: only the paper's table needs them.
"""

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.experiment.presets.baselines import CELLS, Gdom, Ypm, node_places
from mmcrawl.page.tree import PageTree

__all__ = ["CELLS", "Gdom", "Ypm", "nom"]


def nom(tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
    """Keep all text and all links: no method at all (NOM)."""
    page = range(len(tree))
    return [page], [page]
