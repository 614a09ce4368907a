"""Two sites off the topic that the others link to: a kitchen shop and a pop music weekly."""

from collections.abc import Iterator

from mmcrawl.replay.demo.model import DemoConfig, Group, Link, Page, Style, links_of
from mmcrawl.replay.demo.sections import Section, list_links, pages_of

SHOP = "shop.demo.test"
MUSIC = "music.demo.test"
SHOP_ROOT = f"http://{SHOP}/"
MUSIC_ROOT = f"http://{MUSIC}/"

SHOP_STYLE = Style(
    "div",
    "zh",
    "巧妇厨房",
    links_of(SHOP_ROOT, ("", "首页"), ("zuofa/", "家常菜"), ("gouwuche/", "购物车")),
)
MUSIC_STYLE = Style(
    "html5",
    "en",
    "Pop Music Weekly",
    (Link(MUSIC_ROOT, "Home"), Link(f"{MUSIC_ROOT}singles/", "Singles")),
)


def sections() -> tuple[Section, ...]:
    return (
        Section(
            f"{SHOP_ROOT}zuofa/", "家常菜", SHOP_STYLE, 20, prose="kitchen", page="cai{n:02}.html",
            more="list_{n}.html", forms=("mp3", "hosted-zh", "rmvb-link"), share=0.5,
            files="/media/",
        ),
        Section(
            f"{SHOP_ROOT}gouwuche/", "购物车", SHOP_STYLE, 4, prose="kitchen", page="view{n}.jsp",
            session="jsessionid",
        ),
        Section(
            f"{MUSIC_ROOT}singles/", "Singles", MUSIC_STYLE, 22, prose="music",
            page="{n}.html", more="page/{n}/", forms=("audio", "mp3-link", "hosted-en"), share=0.8,
        ),
    )  # fmt: skip


def pages(config: DemoConfig) -> Iterator[Page]:
    """The pages of both."""
    recipes, cart, singles = sections()
    for section in (recipes, cart, singles):
        yield from pages_of(section, config)
    dishes = Group("今日推荐", (*list_links(recipes, config, 5), Link(recipes.base, "全部菜谱")))
    yield Page(SHOP_ROOT, "巧妇厨房", SHOP_STYLE, prose="kitchen", groups=(dishes,))
    hits = Group("Hits", (*list_links(singles, config, 6), Link(singles.base, "All singles")))
    yield Page(MUSIC_ROOT, "Pop Music Weekly", MUSIC_STYLE, prose="music", groups=(hits,))
