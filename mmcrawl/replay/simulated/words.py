"""What sites, directories and their pages are called."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """What a directory is about; `segment` is its name in addresses."""

    segment: str
    title: str
    prose: str = ""  # of the pages about no lesson; empty for physics
    plays: bool = False  # do some of its pages hold media off the topic?
    titles: tuple[str, ...] = ()  # of pages about a lesson


@dataclass(frozen=True, slots=True)
class Names:
    """The words of one language."""

    sites: tuple[str, ...]
    media: tuple[Subject, ...]  # of directories that media are gathered in
    topic: tuple[Subject, ...]  # of directories on the topic with few media
    other: tuple[Subject, ...]
    stray: tuple[str, ...]  # titles of pages on the topic in directories off it
    forms: tuple[str, ...]  # ways of embedding media
    words: dict[str, str]
    tunnel: tuple[str, ...]  # prose of the pages of a tunnel


NAMES = {
    "zh": Names(
        sites=("启明教学资源网", "育才校园网", "求真学习网", "博雅教育在线", "春晖中学"),
        media=(
            Subject("donghua", "物理动画", titles=("{topic}动画演示", "{topic}flash课件")),
            Subject("wuli", "物理视频", titles=("{topic}视频讲解", "{topic}名师课堂实录")),
            Subject("luyin", "课堂录音", titles=("{topic}课堂录音", "{topic}复习讲座")),
            Subject("shiyan", "演示实验", titles=("{topic}演示实验录像", "{topic}演示")),
        ),
        topic=(
            Subject("jiaoan", "物理教案", titles=("{topic}教案", "《{topic}》教学设计")),
            Subject("shiti", "物理试题", titles=("{topic}同步练习题", "{topic}单元测试")),
            Subject("wuli", "物理课件", titles=("{topic}课件", "{topic}ppt课件下载")),
        ),
        other=(
            Subject("xinwen", "校园新闻", "news"),
            Subject("yuwen", "语文", "yuwen", plays=True),
            Subject("lishi", "历史", "lishi"),
            Subject("youxi", "小游戏", "games", plays=True),
            Subject("luntan", "论坛", "forum"),
            Subject("yingyu", "英语", "yingyu", plays=True),
            Subject("xuexiao", "学校概况", "school"),
            Subject("caipu", "家常菜", "kitchen", plays=True),
        ),
        stray=("{topic}", "{topic}课件", "{topic}资料"),
        forms=("swf", "swf-script", "swf-new", "wmv", "mp3", "mp3-link", "rmvb-link", "hosted-zh"),
        words={
            "front": "首页",
            "list": "{title}列表",
            "near": "上一篇 下一篇",
            "related": "相关内容",
            "pages": "分页",
            "sections": "栏目导航",
            "fresh": "最新更新",
            "friends": "友情链接",
            "calendar": "校历",
            "more": "更多",
            "onward": "资料目录",
            "old": "旧版",
            "before": "上个月",
            "after": "下个月",
        },
        tunnel=("school", "news", "forum"),
    ),
    "en": Names(
        sites=("Open Classroom", "Harbour School", "Study Corner", "Corfe College"),
        media=(
            Subject("lectures", "Physics lectures", titles=("{topic}: video lecture",)),
            Subject("physics", "Physics simulations", titles=("{topic} simulation",)),
            Subject("recordings", "Recordings", titles=("{topic}, recorded lecture",)),
        ),
        topic=(
            Subject("notes", "Physics notes", titles=("{topic}: notes", "Notes on {topic}")),
            Subject("physics", "Physics problems", titles=("{topic}: problems",)),
        ),
        other=(
            Subject("blog", "Blog", "blog"),
            Subject("music", "Music", "music", plays=True),
            Subject("about", "About", "about"),
            Subject("games", "Games", "games", plays=True),
            Subject("library", "Library", "library"),
        ),
        stray=("{topic}", "{topic}, a demonstration"),
        forms=("video", "source", "audio", "mp3-link", "swf", "hosted-en"),
        words={
            "front": "Home",
            "list": "{title}",
            "near": "Previous and next",
            "related": "Related",
            "pages": "Pages",
            "sections": "Sections",
            "fresh": "Recent",
            "friends": "Elsewhere",
            "calendar": "Calendar",
            "more": "More",
            "onward": "Index of files",
            "old": "Old site",
            "before": "Previous month",
            "after": "Next month",
        },
        tunnel=("library", "about", "blog"),
    ),
}  # fmt: skip
