"""What a page is there for: its text, its links, or what it plays."""

from mmcrawl.blocks import page_content
from tests.tables import each

TEXT = (
    "<p>A lever is a rigid bar that turns on a fixed point, the fulcrum. A small force at its long "
    "end moves a heavy load at the short one, and the load moves less than the force does.</p>"
    "<p>Archimedes was the first to write the law down: magnitudes are in equilibrium at distances "
    "reciprocally proportional to their weights, whatever these weights may be.</p>"
)
TEASERS = "".join(
    f"<article><h2><a href={i}.htm>Experiment no. {i}</a></h2><p>In which a weight of {i} pounds "
    "is lifted by a lever of oak, and a rope is pulled over a wheel.</p></article>"
    for i in range(8)
)
LINKS = "".join(f"<li><a href={i}.htm>The {i}th experiment with levers</a>" for i in range(12))
FEW_LINKS = LINKS[: LINKS.index("<li><a href=4")]
PLAYER = "<audio controls src=/lever.mp3></audio>"


def type_of(body: str, *, title: str = "Levers", url: str = "http://lab.test/levers.htm") -> str:
    document = f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body>"
    return page_content(document.encode(), url).page_type


@each(
    "body, kind",
    [
        (TEXT, "topic"),
        (f"<nav>{LINKS}</nav>{TEXT}", "topic"),
        (f"<div class=sidebar><ul>{FEW_LINKS}</ul></div>{TEXT}", "topic"),
        (f"<ul>{LINKS}</ul>", "hub"),
        (f"{TEXT}<ul>{LINKS * 3}</ul>", "hub"),
        (TEASERS, "hub"),
        ("<p>Welcome. <a href=a.htm>Click here</a> to go on.", "hub"),
        ("", "hub"),
        (f"{PLAYER}{TEXT}", "media"),
        (f"<ul>{LINKS}</ul><a href=/x.mp3>Listen</a>", "hub"),
        (f"<p>Hear <a href=/x.mp3>the lecture</a>.{TEXT}", "media"),
    ],
)
def test_what_a_page_is_there_for(body: str, kind: str) -> None:
    assert type_of(body) == kind


def test_a_long_text_outweighs_what_plays_beside_it() -> None:
    long = "".join(TEXT.replace("lever", f"lever number {i}") for i in range(16))
    assert type_of(f"{PLAYER}{long}") == "topic"
    assert type_of(f"{PLAYER}{long}", title="Levers: video lecture") == "media"
    assert type_of(f"{PLAYER}{long}", url="http://lab.test/podcast/3/") == "media"


@each("name", ["banner.swf", "logo.mp4", "img/loader.swf"])
def test_films_of_the_layout_are_no_media(name: str) -> None:
    assert type_of(f"<embed src=/{name}>{TEXT}") == "topic"


def test_chinese_says_more_in_fewer_characters() -> None:
    text = "杠杆是一种简单机械，在力的作用下能绕着固定点转动的硬棒就是杠杆。阿基米德提出了。" * 2
    other = "要使杠杆平衡，作用在杠杆上的两个力矩大小必须相等，即动力乘以动力臂等于阻力乘以阻力臂。"
    assert len(text + other) < 300
    assert type_of(f"<p>{text}<p>{other}", title="杠杆原理") == "topic"
