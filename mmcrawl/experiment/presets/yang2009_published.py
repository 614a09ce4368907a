"""What Yang 2009 published: its parameters, the figures of its tables, and what to know of them."""

from dataclasses import dataclass

from mmcrawl.experiment.plan import Algorithm

# 5.4: nothing of a page off topic is looked at. Not so in search by URL rules: probing goes through
# pages of any topic, to pass tunnels (4.3.2).
_FOCUS = {"expand": "on-topic"}
FOCUSED = (
    Algorithm(
        "topicrank",
        "topicrank",
        {"d": "0.8", "omega": "0.5", "lambda_": "0.85", "alpha": "0.4", **_FOCUS},
    ),
    Algorithm(
        "shark-improved",
        "shark-improved",
        {
            "beta": "0.8",
            "sigma": "0.6",
            "theta": "0.5",
            "alpha": "0.4",
            "with_media": "false",
            **_FOCUS,
        },
    ),
    Algorithm("urlrule-2009", "urlrule-2009", {"d": "0.85", "beta": "0.8", "alpha": "0.4"}),
)
ALGORITHMS = (Algorithm("breadth", "breadth"), *FOCUSED)
"""Those of section 5.2.4, with the parameters of 5.2.5; ω is open in the thesis."""


@dataclass(frozen=True, slots=True)
class Published:
    """A crawl of table 5-5 or 5-6; precision and recall are computed from its counts."""

    title: str
    pages: int
    relevant: int
    hours: float
    per_minute: int
    precision_after: tuple[float, ...] = ()


PUBLISHED = {
    "breadth": Published("breadth-first", 73_952, 3_059, 30.91, 40),
    "topicrank": Published(
        "Topic-PageRank", 26_872, 984, 18.44, 24, (0.02256, 0.03246, 0.03568, 0.03896)
    ),
    "shark-improved": Published(
        "improved Shark-Search", 21_691, 1_643, 24.51, 14, (0.07485, 0.12267, 0.19619, 0.21572)
    ),
    "urlrule-2009": Published(
        "URL rules", 15_892, 2_048, 15.27, 17, (0.06527, 0.16463, 0.21493, 0.25691)
    ),
}
LAYERS = {
    1: (621, 3),
    2: (1_010, 72),
    3: (5_250, 178),
    4: (1_824, 103),
    5: (18_851, 775),
    6: (730, 20),
    7: (2_734, 84),
    8: (2_129, 64),
    9: (3_498, 5),
    10: (1_325, 8),
    11: (838, 0),
}
ERRORS = 2_045
"""Pages of table 4-1 that could not be fetched."""

NOTE = (
    "Published: ten sites; media pages are those with Flash, on any topic. The rows sum to 38,810"
    " and 1,312, where the thesis prints 38,820 pages and 1,316 media pages with 5,089 Flash files."
    " Here: pages on the topic with wanted media; copies of a page count once."
)
CRAWLS_NOTE = (
    "Published recall is of the pages that breadth-first found, here of all there are; in brackets"
    " its 95 % interval over sites (bootstrap), if there are three or more. Algorithms are compared"
    " after the share of the pages that each fetched in the thesis, and at the end, where those"
    " that follow the same links have the same pages. Two shares are misprinted in the thesis, and"
    " computed from its counts here: 984 of 26,872 pages are 3.66 %, not 2.67 %, and 3,059 of"
    " 73,952 are 4.14 %, not 4.464 %."
)
LAYER_NOTE = (
    "Layers count the slashes of an address, so that only a home page is in the first: the 69 pages"
    " of /wu51/* in table 4-3 are the 69 of layer 3 in table 4-2."
)
LAYERS_OF_SITE = {
    1: (1, 0),
    2: (393, 9),
    3: (1_390, 69),
    4: (3_805, 124),
    5: (4_046, 229),
    6: (1_110, 4),
    7: (72, 0),
    8: (0, 0),
}
SITE = "wsbedu.com"
NOTE_OF_SITE = (
    "The rows of the thesis sum to 10,817 pages, where it prints 9,817, 1,141 of them in error."
)
PATTERNS = {"/wu51/*": 69, "/lin/hs/*": 209, "/kejian/shengk/*": 52, "/mid/soft/*": 34}
