"""A small archive in Chinese, English and German, to be searched."""

from collections.abc import Iterable

from mmcrawl.archive import Archive, Capture

DAY = 86_400.0
JANUARY = 1_704_067_200.0  # 2024-01-01 00:00 UTC

ENGLISH = "http://www.physics.test/levers.html"
CHINESE = "http://wuli.test/lixue.html"
TRADITIONAL = "http://wuli.test/tw/lixue.html"
GERMAN = "https://physik.test/de/hebel.html"

HTML = """<!DOCTYPE html><html lang="{language}"><head><meta charset="{charset}">
<title>{title}</title></head><body>
<div id="nav"><ul><li><a href="/">{home}</a></li><li><a href="/a">{menu}</a></li>
<li><a href="/b">{menu} 2</a></li></ul></div>
<div id="main"><h1>{title}</h1>{text}</div>
<div id="more"><h2>{more_title}</h2>{more}</div>
<div id="foot"><p>Copyright 2024 {home}. All rights reserved.</p></div>
</body></html>"""


def capture(
    url: str,
    day: float,
    *,
    text: str,
    more: str = "",
    title: str = "Levers",
    more_title: str = "Films",
    home: str = "Home",
    menu: str = "Lessons",
    language: str = "en",
    charset: str = "utf-8",
) -> Capture:
    """Return a page as it was received some days after the first of January."""
    page = HTML.format(
        title=title,
        text="".join(f"<p>{line}</p>" for line in text.split("\n")),
        more=more,
        more_title=more_title,
        home=home,
        menu=menu,
        language=language,
        charset=charset,
    )
    headers = (("Content-Type", f"text/html; charset={charset}"),)
    return Capture(url, page.encode(charset), JANUARY + day * DAY, headers=headers)


def mixed_web() -> list[Capture]:
    """Return versions of four pages over ninety days."""
    lever = "A lever is a beam on a pivot, and the effort moves the load. " * 3
    motion = "Newton wrote down the three laws of motion in his book of 1687. " * 3
    video = '<p>Watch the lecture: <a href="lever.mp4">film of a lever</a> in the garden.</p>'
    return [
        capture(ENGLISH, 0, text=lever + "\n" + motion, more=video),
        capture(
            CHINESE,
            1,
            title="力学",
            text="量子力学和牛顿定律是物理课的内容。" * 4,
            more='<embed src="/swf/力学.swf"><p>动画演示 杠杆原理 第一课</p>',
            more_title="动画",
            home="首页",
            menu="课程",
            language="zh-CN",
            charset="gb18030",
        ),
        capture(
            TRADITIONAL,
            2,
            title="力學",
            text="牛頓的力學實驗與槓桿原理。" * 4,
            more="<p>音樂</p>",
            more_title="錄音",
            home="首頁",
            menu="課程",
            language="zh-TW",
            charset="utf-8",
        ),
        capture(
            GERMAN,
            3,
            title="Der Hebel",
            text="Ein Hebel ist ein Balken auf einem Drehpunkt über der Straße. " * 3
            + "\nNewton schrieb seine Gesetze im Jahre 1687 auf. " * 3,
            more='<audio src="ton.mp3"></audio><p>Tonaufnahme der Vorlesung</p>',
            more_title="Aufnahmen",
            home="Startseite",
            menu="Kurse",
            language="de-AT",
            charset="iso-8859-1",
        ),
        capture(ENGLISH, 30, text=lever + "\n" + motion + "\nPulleys are wheels.", more=video),
        capture(ENGLISH, 60, text=motion + "\nPulleys are wheels on an axle."),
        capture(GERMAN, 90, title="Der Hebel", text="Rollen und Seile tragen Lasten.",
                home="Startseite", menu="Kurse", language="de-AT", charset="iso-8859-1"),
    ]  # fmt: skip


def store_all(archive: Archive, captures: Iterable[Capture]) -> None:
    """Store captures one by one."""
    for one in captures:
        archive.store(one)
