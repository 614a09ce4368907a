"""The English physics site: HTML5, players of other hosts, recordings behind the library."""

from collections.abc import Iterator

from mmcrawl.page.urls import joined_url
from mmcrawl.replay.demo.model import DemoConfig, Group, Link, Page, Style, links_of
from mmcrawl.replay.demo.sections import Section, list_links, pages_of

HOST = "physics.demo.test"
ROOT = f"http://{HOST}/"
ROBOTS = "User-agent: *\nDisallow: /drafts/\n"

NAV = links_of(
    ROOT,
    ("", "Home"),
    ("blog/", "Blog"),
    ("library/", "Library"),
    ("about/", "About"),
    ("calendar?year=2009&month=9", "Calendar"),
)
STYLE = Style("html5", "en", "Open Classroom", NAV)
LEARNING = Group(
    "Physics",
    links_of(
        ROOT,
        ("lectures/", "Physics lectures"),
        ("simulations/", "Physics simulations"),
        ("notes/", "Physics notes"),
        ("problems/", "Physics problems"),
    ),
)
ELSEWHERE = Group(
    "Elsewhere",
    links_of(
        ROOT,
        ("http://wuli.demo.test/", "启明教学资源网"),
        ("http://music.demo.test/", "Pop Music Weekly"),
    ),
)

# The pages between the front and the recordings on tape.
TUNNEL = (
    ("library/", "Library", "Special collections"),
    ("library/collections/", "Special collections", "The Corfe bequest"),
    ("library/collections/bequest.html", "The Corfe bequest", "Tapes, boxes 1 to 4"),
)


def sections(config: DemoConfig) -> tuple[Section, ...]:
    """The directories of the site, those on the topic first."""
    media, stray = config.media_share, config.stray_share
    mixed = ("video", "audio")
    return (
        Section(
            f"{ROOT}lectures/", "Physics lectures", STYLE, 20, ("{topic}: video lecture",),
            forms=("video", "source", "hosted-en"), share=media, files="/files/",
            page="{slug}/", more="page/{n}/", per_list=10, sides=(LEARNING,),
        ),
        Section(
            f"{ROOT}simulations/", "Physics simulations", STYLE, 8, ("{topic} simulation",),
            forms=("swf", "hosted-en"), share=media, page="{slug}.html", sides=(LEARNING,),
        ),
        Section(
            f"{ROOT}tapes/", "Recordings", STYLE, 10, ("{topic}, recorded lecture",),
            forms=("audio", "mp3-link"), share=media, page="tape-{n}.html",
        ),
        Section(
            f"{ROOT}notes/", "Physics notes", STYLE, 20, ("{topic}: notes", "Notes on {topic}"),
            forms=mixed, share=stray, page="{slug}.html", more="page/{n}/", sides=(LEARNING,),
        ),
        Section(
            f"{ROOT}problems/", "Physics problems", STYLE, 16, ("{topic}: problems",),
            forms=mixed, share=stray, page="{slug}.html", more="page/{n}/", sides=(LEARNING,),
        ),
        Section(
            f"{ROOT}drafts/", "Drafts", STYLE, 4, ("{topic}: draft",),
            forms=("video",), share=1.0, page="{slug}.html", hidden=True,
        ),
        Section(
            f"{ROOT}blog/", "Blog", STYLE, 24, prose="blog", page="2009/post-{n}.html",
            more="page/{n}/", per_list=8, sides=(ELSEWHERE,),
        ),
        Section(f"{ROOT}about/", "About", STYLE, 5, prose="about", page="{n}.html"),
    )  # fmt: skip


def pages(config: DemoConfig) -> Iterator[Page]:
    """Every page that has an address of its own; traps are elsewhere."""
    by_title = {section.title: section for section in sections(config)}
    for section in by_title.values():
        yield from pages_of(section, config)
    news = Group("From the blog", list_links(by_title["Blog"], config, 6))
    notes = Group("Notes", list_links(by_title["Physics notes"], config, 4))
    drafts = Group("Editors", links_of(ROOT, ("drafts/", "Drafts")))
    start = Link(f"{ROOT}lectures/", "All lectures")
    front = (Group("Start here", (start,)), news, notes, drafts, ELSEWHERE)
    yield Page(ROOT, "Open Classroom", STYLE, prose="about", sentences=4, groups=front)
    ends = (*(joined_url(ROOT, path) for path, _, _ in TUNNEL[1:]), f"{ROOT}tapes/")
    for (path, title, anchor), onward in zip(TUNNEL, ends, strict=True):
        groups = (Group("Shelves", (Link(onward, anchor),)), ELSEWHERE)
        yield Page(joined_url(ROOT, path), title, STYLE, prose="library", groups=groups)
