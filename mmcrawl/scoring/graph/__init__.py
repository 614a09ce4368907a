"""The algorithms that rank links by the graph seen so far."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.scoring.graph.hits import Hits
    from mmcrawl.scoring.graph.inlinks import InLinks
    from mmcrawl.scoring.graph.link_graph import (
        Column,
        LinkGraph,
        RescoreSchedule,
        converge,
        shares_within,
    )
    from mmcrawl.scoring.graph.topicrank import (
        PageRank,
        TopicCentricPageRank,
        TopicRank,
        WeightedPageRank,
    )
