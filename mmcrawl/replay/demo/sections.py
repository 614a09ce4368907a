"""A directory of a site: its list pages and the pages it lists."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mmcrawl.page.urls import joined_url
from mmcrawl.replay.demo.dice import Dice
from mmcrawl.replay.demo.markup import ENDINGS, HOSTED
from mmcrawl.replay.demo.model import DemoConfig, Group, Link, Medium, Page, Style
from mmcrawl.replay.demo.texts import Lesson, fill, lessons, prose

WORDS = {
    "zh": {"list": "{title}列表", "near": "上一篇 下一篇", "more": "相关内容", "pages": "分页"},
    "en": {"list": "{title}", "near": "Previous and next", "more": "Related", "pages": "Pages"},
}


@dataclass(frozen=True, slots=True)
class Section:
    """What a directory holds."""

    base: str  # the directory's URL, which answers with the first list
    title: str
    style: Style
    size: int  # pages besides the lists, before DemoConfig.size
    titles: tuple[str, ...] = ("{topic}",)  # of pages about a lesson
    prose: str = ""  # the subject of pages about no lesson
    page: str = "{slug}{n:02}.htm"  # how pages are named
    more: str = "index_{n}.htm"  # how lists after the first are named
    per_list: int = 12
    forms: tuple[str, ...] = ()  # how its media are put on pages
    share: float = 0.0  # of pages with media
    files: str = ""  # the path of the directory of its media files
    attached: str = ""  # ending of a file that each page offers and that is no media file
    sides: tuple[Group, ...] = ()  # links on every page of it
    hidden: bool = False  # robots.txt forbids it
    session: str = ""

    @property
    def relevant(self) -> bool:
        """Do its media count: are they about physics, and may they be fetched?"""
        return not self.prose and not self.hidden


def pages_of(section: Section, config: DemoConfig) -> Iterator[Page]:
    """The lists and pages of a directory."""
    articles = list(_articles(section, config))
    links = [Link(page.url, page.title) for page in articles]
    yield from _lists(section, articles, links)
    for number, page in enumerate(articles):
        yield _linked(section, page, number, links, config)


def list_links(section: Section, config: DemoConfig, count: int) -> tuple[Link, ...]:
    """Links to a few pages of a directory, for pages elsewhere."""
    dice = Dice(config.seed, section.base, "teaser")
    articles = dice.sample(list(_articles(section, config)), count)
    return tuple(Link(page.url, page.title) for page in articles)


def attachment(section: Section, page_url: str) -> str:
    """The URL of the file that a page of this section offers for download."""
    return page_url.rpartition(".")[0] + "." + section.attached


def _articles(section: Section, config: DemoConfig) -> Iterator[Page]:
    language = section.style.language
    dice = Dice(config.seed, section.base, "articles")
    about = dice.sample(lessons(language), len(lessons(language)))
    for number in range(max(1, round(section.size * config.size))):
        lesson = None if section.prose else about[number % len(about)]
        name = section.page.format(slug=lesson.slug if lesson else section.prose, n=number + 1)
        url = joined_url(section.base, name)
        title = _title(section, lesson, number // len(about), dice)
        media = _media(section, lesson, number + 1, title, config)
        yield Page(
            url,
            title,
            section.style,
            lesson,
            section.prose,
            sentences=dice.number(5, 10),
            media=media,
            relevant=bool(media) and section.relevant,
            session=section.session,
        )


def _title(section: Section, lesson: Lesson | None, round_: int, dice: Dice) -> str:
    language = section.style.language
    if lesson is None:
        return fill(dice.pick(prose(language)[section.prose].titles), language, dice)
    title = dice.pick(section.titles).format(topic=lesson.name)
    if not round_:
        return title
    return f"{title}（{round_ + 1}）" if language == "zh" else f"{title}, part {round_ + 1}"


def _media(
    section: Section, lesson: Lesson | None, number: int, title: str, config: DemoConfig
) -> tuple[Medium, ...]:
    dice = Dice(config.seed, section.base, number, "media")
    if not section.forms or not dice.chance(section.share):
        return ()
    form = dice.pick(section.forms)
    slug = lesson.slug if lesson else section.prose
    if form in HOSTED:
        address = HOSTED[form].format(id=f"{slug[:3]}{dice.number(10000000, 99999999)}")
    else:
        directory = joined_url(section.base, section.files)
        address = f"{directory}{slug}{number:02}.{ENDINGS[form]}"
    return (Medium(form, address, title),)


def _lists(section: Section, articles: list[Page], links: list[Link]) -> Iterator[Page]:
    language = section.style.language
    words = WORDS[language]
    starts = range(0, len(articles), section.per_list)
    urls = [
        joined_url(section.base, section.more.format(n=n + 1)) if n else section.base
        for n in range(len(starts))
    ]
    turning = tuple(Link(url, str(n + 1)) for n, url in enumerate(urls))
    for url, start in zip(urls, starts, strict=True):
        shown = range(start, min(start + section.per_list, len(articles)))
        by_chapter: dict[str, list[Link]] = {}
        for n in shown:
            lesson = articles[n].lesson
            chapter = lesson.chapter if lesson else words["list"].format(title=section.title)
            by_chapter.setdefault(chapter, []).append(links[n])
        groups = [Group(title, tuple(entries)) for title, entries in by_chapter.items()]
        if len(turning) > 1:
            groups.append(Group(words["pages"], turning))
        yield Page(
            url,
            section.title,
            section.style,
            groups=(*groups, *section.sides),
            session=section.session,
        )


def _linked(
    section: Section, page: Page, number: int, links: list[Link], config: DemoConfig
) -> Page:
    """The page with its links: before and after it, related ones, those of the section."""
    words = WORDS[section.style.language]
    dice = Dice(config.seed, page.url, "links")
    near = [links[n] for n in (number - 1, number + 1) if 0 <= n < len(links)]
    groups = [
        Group(words["near"], (*near, Link(section.base, section.title))),
        Group(words["more"], tuple(dice.sample(links[:number] + links[number + 1 :], 5))),
    ]
    extra = ""
    if section.attached:
        address = page.reference(attachment(section, page.url))
        extra = f'<p><a href="{address}">{page.title}.{section.attached}</a></p>'
    return replace(page, groups=(*groups, *section.sides), extra=extra)
