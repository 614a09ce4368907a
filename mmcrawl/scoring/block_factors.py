"""What the block that a link stands in does to its score, whatever the algorithm.

"The crawler takes links from topic-related blocks first" (Wang & Zhu 2012): links in blocks that
are on every page, or are not about the page, wait longer.
"""

from mmcrawl.scoring.ranges import check_ranges

__all__ = ["block_factors"]


def block_factors(
    *,
    navigation: float = 0.5,
    noise_links: float = 0.2,
    copyright: float = 0.2,
    advertisement: float = 0.2,
) -> dict[str, float]:
    """Return what the score of a link is multiplied with, by the kind of its block.

    Links in blocks of other kinds (related links, topic, title, picture, small) keep their scores.

    Args:
        navigation, noise_links, copyright, advertisement: from 0 (last of all) to 1 (no matter).

    Raises:
        ValueError: a factor is out of its range.
    """
    factors = {
        "navigation": navigation,
        "noise-links": noise_links,
        "copyright": copyright,
        "advertisement": advertisement,
    }
    check_ranges(**{kind: (factor, 0, 1) for kind, factor in factors.items()})
    return factors
