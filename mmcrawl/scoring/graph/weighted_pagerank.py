"""`weighted-pagerank`: pages pass more of their rank to popular links (Xing & Ghorbani 2004).

A comparator, as published: structure alone orders.
"""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mmcrawl.scoring.graph.link_graph import Ids, Numbers, shares_within
from mmcrawl.scoring.graph.pagerank import PageRank


class WeightedPageRank(PageRank):
    """Order links by PR(u) = (1−d)/N + d Σ_{v→u} PR(v) · W_in(v, u) · W_out(v, u).

    W_in(v, u) is the in-degree of u as a share of the in-degrees of all links of v, W_out(v, u) the
    same of out-degrees. The products sum to less than 1 over the links of v. As with pages without
    links, the rest goes to all nodes alike; this only scales the published ranks, so that they sum
    to 1.

    The out-degree of a link that is not fetched is not known, and with the 0 that the graph has
    for it no waiting link would get anything: the mean of the crawled pages is taken. A link that
    could not be had has 0.

    Args:
        source: where links are looked up by id.
        similarity: not used.
        d: damping, in (0, 1).
        growth: share by which the graph grows between two batches, from 0 (exact, slow).
    """

    name: ClassVar[str] = "weighted-pagerank"

    def shares(self, targets: npt.NDArray[Any], starts: Ids) -> Numbers:
        """Return W_in · W_out of each link; the arguments are those of `PageRank.shares`."""
        graph = self.graph
        outdegree = np.where(
            self._settled.values[targets],
            graph.outdegree.values[targets],
            graph.edges / graph.pages,
        )
        shares = shares_within(graph.indegree.values[targets], starts)
        shares *= shares_within(outdegree, starts)
        return shares
