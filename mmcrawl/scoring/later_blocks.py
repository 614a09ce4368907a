"""What the block that a link stands in does to its place in the order, whatever the algorithm.

"The crawler takes links from topic-related blocks first" (after Wang & Zhu 2012): links of bars and
boxes that a site puts on all its pages come later than those of what a page is there for.
"""

from mmcrawl.scoring.base import check_ranges


def later_blocks(
    *,
    navigation: float = 1.0,
    noise_links: float = 1.0,
    copyright: float = 1.0,
    advertisement: float = 1.0,
) -> dict[str, float]:
    """Return the kinds of blocks whose links come later, and what their scores are multiplied with.

    Links in them come behind all links of equal score in blocks of other kinds (related links,
    topic, title, picture, small) or of unknown kind; with a factor below 1, also behind better
    ones. The default leaves it to the algorithm wherever that prefers one link to another.

    Args:
        navigation, noise_links, copyright, advertisement: factors from 0 (behind all) to 1.

    Raises:
        ValueError: a factor is out of its range.
    """
    factors = {
        "navigation": navigation,
        "noise-links": noise_links,
        "copyright": copyright,
        "advertisement": advertisement,
    }
    check_ranges(dict.fromkeys(factors, (0, 1)), factors)
    return factors
