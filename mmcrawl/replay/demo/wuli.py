"""The Chinese school site: an old part in GBK, a newer one in UTF-8, videos far from its front."""

from collections.abc import Iterator
from dataclasses import replace

from mmcrawl.page.urls import joined_url
from mmcrawl.replay.demo.model import DemoConfig, Group, Link, Medium, Page, Style, links_of
from mmcrawl.replay.demo.sections import Section, list_links, pages_of
from mmcrawl.replay.demo.texts import lessons

HOST = "wuli.demo.test"
ROOT = f"http://{HOST}/"
ROBOTS = "User-agent: *\nDisallow: /neibu/\n"
BANNER = "/images/welcome.swf"
_MENU = "/gaozhong/wuli/yanshi"  # an animation that loads three others, of which one is missing
PARTS = {f"{_MENU}_{n}.swf": f"牛顿第二定律演示 第{n}部分" for n in (1, 2)}
SITE = "启明教学资源网"

NAV = links_of(
    ROOT,
    ("", "首页"),
    ("xinwen/", "新闻"),
    ("xuexiao/", "学校"),
    ("luntan/", "论坛"),
    ("ditu.htm", "网站地图"),
    ("search.asp?q=", "搜索"),
)
PLAIN = Style("table", "zh", SITE, NAV, charset="gbk", declared="gb2312")
OLD = replace(PLAIN, banner_swf=BANNER)
NEW = Style("div", "zh", SITE, NAV)

SUBJECTS = Group(
    "学科导航",
    links_of(
        ROOT,
        ("gaozhong/yuwen/", "语文"),
        ("gaozhong/lishi/", "历史"),
        ("gaozhong/yingyu/", "英语"),
        ("gaozhong/", "高中首页"),
    ),
)
PHYSICS = Group(
    "物理栏目",
    links_of(
        ROOT,
        ("gaozhong/wuli/donghua/", "物理动画"),
        ("gaozhong/wuli/kejian/", "物理课件"),
        ("gaozhong/wuli/jiaoan/", "物理教案"),
        ("gaozhong/wuli/shiti/", "物理试题"),
        ("gaozhong/", "高中首页"),
    ),
)
FRIENDS = Group(
    "友情链接",
    links_of(
        ROOT,
        ("http://shop.demo.test/", "巧妇厨房"),
        ("http://music.demo.test/", "Pop Music Weekly"),
        ("http://physics.demo.test/", "Physics Lectures"),
    ),
)
VIDEOS = Group(
    "视频栏目",
    links_of(ROOT, ("shipin/", "视频下载"), ("shipin/dianbo/", "视频点播")),
)
FLASH = ("swf", "swf", "swf-script", "swf-new")

# The pages off the topic between the front and the videos, the first ones first.
TUNNEL = (
    ("xuexiao/xiaoqing.htm", "校庆专题", "school"),
    ("xuexiao/mingshi.htm", "名师风采：陶喆、王珺与朱镕老师", "old-teachers"),
    ("xinwen/zhuanti.htm", "图书馆通知", "news"),
    ("xuexiao/xiaoyou.htm", "历届校友", "school"),
    ("xuexiao/fengguang.htm", "校园风光", "school"),
    ("xuexiao/xiaoshi.htm", "校史沿革", "school"),
    ("xuexiao/houqin.htm", "后勤服务", "school"),
    ("xuexiao/shetuan.htm", "社团活动", "school"),
)


def sections(config: DemoConfig) -> tuple[Section, ...]:
    """The directories of the site, those on the topic first."""
    return (*_on_topic(config), *_hidden(), *_off_topic())


def pages(config: DemoConfig) -> Iterator[Page]:
    """Every page that has an address of its own; traps are elsewhere."""
    for section in sections(config):
        yield from pages_of(section, config)
    yield _front(config)
    yield from _indexes(config)
    yield from _tunnel(config)
    yield from _oddities()


def _on_topic(config: DemoConfig) -> tuple[Section, ...]:
    physics = f"{ROOT}gaozhong/wuli/"
    media, stray = config.media_share, config.stray_share
    mixed = ("swf", "mp3", "wmv")
    return (
        Section(
            f"{physics}donghua/", "物理动画", OLD, 26, ("{topic}动画演示", "{topic}flash课件"),
            forms=FLASH, share=media, files="swf/", sides=(PHYSICS, SUBJECTS),
        ),
        Section(
            f"{physics}kejian/", "物理课件", OLD, 26, ("{topic}课件", "{topic}ppt课件下载"),
            forms=mixed, share=stray, attached="ppt", sides=(PHYSICS, SUBJECTS),
            more="list.asp?page={n}", page="kj{n:03}.htm",
        ),
        Section(
            f"{physics}jiaoan/", "物理教案", OLD, 24, ("{topic}教案", "《{topic}》教学设计"),
            forms=mixed, share=stray, attached="rar", sides=(PHYSICS, SUBJECTS),
        ),
        Section(
            f"{physics}shiti/", "物理试题", OLD, 26, ("{topic}同步练习题", "{topic}单元测试"),
            forms=mixed, share=stray, sides=(PHYSICS,),
        ),
        Section(
            f"{ROOT}shipin/", "视频下载", NEW, 18, ("{topic}视频讲解", "{topic}名师课堂实录"),
            forms=("wmv", "rmvb-link", "hosted-zh"), share=media, files="/media/", sides=(VIDEOS,),
            page="{slug}{n:02}.html", more="list_{n}.html", per_list=10,
        ),
        Section(
            f"{ROOT}shipin/dianbo/", "视频点播", NEW, 14, ("{topic}在线播放", "在线课堂：{topic}"),
            forms=("wmv", "swf-script"), share=media, files="/media/", sides=(VIDEOS,),
            page="show.asp?id={n}", more="list.asp?page={n}", per_list=10,
        ),
        Section(
            f"{ROOT}luyin/", "课堂录音", NEW, 8, ("{topic}课堂录音", "{topic}复习讲座录音"),
            forms=("mp3", "mp3-link"), share=media, page="{n}/", more="list_{n}.html",
        ),
        Section(
            f"{ROOT}shiyan/", "演示实验", PLAIN, 5, ("{topic}演示实验录像",),
            forms=("wmv",), share=media, page="sy{n}.htm", more="left{n}.htm",
        ),
    )  # fmt: skip


def _hidden() -> tuple[Section, ...]:
    """Pages on the topic that robots.txt forbids."""
    inner = Section(
        f"{ROOT}neibu/", "内部资料", PLAIN, 6, ("{topic}公开课录像（内部）",),
        forms=("wmv",), share=1.0, hidden=True,
    )  # fmt: skip
    return (inner,)


def _off_topic() -> tuple[Section, ...]:
    senior = f"{ROOT}gaozhong/"
    return (
        Section(
            f"{senior}yuwen/", "语文", OLD, 16, prose="yuwen", page="yw{n:02}.htm",
            forms=("mp3", "mp3-link"), share=0.4, files="langdu/", sides=(SUBJECTS,),
        ),
        Section(
            f"{senior}lishi/", "历史", OLD, 14, prose="lishi", page="ls{n:02}.htm",
            sides=(SUBJECTS,),
        ),
        Section(
            f"{senior}yingyu/", "英语", OLD, 12, prose="yingyu", page="yy{n:02}.htm",
            forms=("mp3",), share=0.5, sides=(SUBJECTS,),
        ),
        Section(
            f"{ROOT}xinwen/", "校园新闻", NEW, 30, prose="news", page="200{n}.html",
            more="index_{n}.html", sides=(FRIENDS,),
        ),
        Section(
            f"{ROOT}luntan/", "论坛", NEW, 14, prose="forum", page="thread.php?id={n}",
            more="index.php?page={n}", session="PHPSESSID",
        ),
    )  # fmt: skip


def _front(config: DemoConfig) -> Page:
    by_title = {section.title: section for section in sections(config)}
    fresh = [
        Group(label, list_links(by_title[title], config, count))
        for label, title, count in (
            ("校园新闻", "校园新闻", 8),
            ("最新教案", "物理教案", 3),
            ("最新试题", "物理试题", 3),
            ("语文天地", "语文", 4),
            ("历史长廊", "历史", 4),
        )
    ]
    columns = Group(
        "栏目导航",
        links_of(
            ROOT,
            ("gaozhong/", "高中"),
            ("xinwen/", "新闻中心"),
            ("xuexiao/", "学校概况"),
            ("neibu/", "内部资料"),
            ("guanggao.htm", "广告服务"),
            ("old/a.htm", "旧版首页"),
        ),
    )
    title = "启明教学资源网首页"
    return Page(ROOT, title, PLAIN, groups=(columns, *fresh, FRIENDS))


def _indexes(config: DemoConfig) -> Iterator[Page]:
    """Pages whose only use is to lead on to directories."""
    subjects = (Link(f"{ROOT}wuli/", "物理"), *SUBJECTS.links[:3])
    yield Page(f"{ROOT}gaozhong/", "高中各科", OLD, groups=(Group("各科资源", subjects),))
    popup = "javascript:window.open('yanshi.htm','demo','width=600,height=450')"
    experiments = Link(f"{ROOT}shiyan.htm", "演示实验")
    yield Page(
        f"{ROOT}gaozhong/wuli/",
        "高中物理",
        OLD,
        groups=(Group(PHYSICS.title, (*PHYSICS.links, experiments)), SUBJECTS),
        extra=f'<p><a href="{popup}">牛顿第二定律演示（弹出窗口）</a></p>'
        '<p><a href="kejian/kj999.htm">往届课件</a></p>',
    )
    school = [Link(f"{ROOT}luyin.htm", "广播站")]
    if config.tunnel:
        first = TUNNEL[0]
        school.append(Link(joined_url(ROOT, first[0]), first[1]))
    else:
        school.append(Link(f"{ROOT}shipin/", "视频"))
    yield Page(
        f"{ROOT}xuexiao/", "学校概况", PLAIN, prose="school", groups=(Group("学校", tuple(school)),)
    )


def _tunnel(config: DemoConfig) -> Iterator[Page]:
    """A chain of pages about the school, each linking to the next, the last one to the videos.

    One of them says gb2312 and has characters that only GBK holds.
    """
    chain = TUNNEL[: config.tunnel]
    ends = [Link(joined_url(ROOT, path), title.partition("：")[0]) for path, title, _ in chain[1:]]
    ends.append(Link(f"{ROOT}shipin/", "影像资料"))
    for (path, title, subject), onward in zip(chain, ends, strict=False):
        links = (onward, Link(f"{ROOT}xuexiao/", "学校概况"), Link(f"{ROOT}xinwen/", "新闻中心"))
        groups = (Group("更多", links), FRIENDS)
        url = joined_url(ROOT, path)
        yield Page(url, title, PLAIN, prose=subject, groups=groups)
    # The recordings lie behind two other pages.
    club = Link(f"{ROOT}xuexiao/guangbo.htm", "节目安排")
    yield Page(
        f"{ROOT}luyin.htm", "校园广播站", PLAIN, prose="school", groups=(Group("广播站", (club,)),)
    )
    tapes = Link(f"{ROOT}luyin/", "录音带目录")
    yield Page(club.url, "广播站节目安排", PLAIN, prose="news", groups=(Group("其他", (tapes,)),))


def _oddities() -> Iterator[Page]:
    """A page behind a script, a frameset, an image map, and one that asks not to be followed."""
    lesson = next(lesson for lesson in lessons("zh") if lesson.slug == "niudun")
    title = "牛顿第二定律演示"
    film = Medium("swf", f"{ROOT}{_MENU[1:]}.swf", title)
    yield Page(
        f"{ROOT}gaozhong/wuli/yanshi.htm", title, PLAIN, lesson, media=(film,), relevant=True
    )
    frames = (Link(f"{ROOT}shiyan/", "left"), Link(f"{ROOT}gaozhong/wuli/", "main"))
    yield Page(f"{ROOT}shiyan.htm", "演示实验", PLAIN, frames=frames)
    areas = "".join(
        f'<area shape="rect" coords="{x},0,{x + 90},60" href="{path}" alt="{alt}">'
        for x, path, alt in (
            (0, "/gaozhong/", "高中"),
            (100, "/xinwen/", "新闻"),
            (200, "/xuexiao/", "学校"),
            (300, "/dating/", "大厅"),
        )
    )
    drawing = f'<img src="/images/ditu.gif" usemap="#ditu"><map name="ditu">{areas}</map>'
    yield Page(f"{ROOT}ditu.htm", "网站地图", PLAIN, extra=drawing)
    yield Page(
        f"{ROOT}guanggao.htm",
        "广告服务",
        PLAIN,
        prose="kitchen",
        robots="nofollow",
        groups=(
            FRIENDS,
            Group("本期推荐", links_of(ROOT, ("http://shop.demo.test/zuofa/", "家常菜"))),
        ),
    )
