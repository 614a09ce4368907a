"""From a page to the HTML and the bytes a server would send."""

from html import escape

import mmcrawl.replay.demo.designs.div as dress_div
import mmcrawl.replay.demo.designs.html5 as dress_html5
import mmcrawl.replay.demo.designs.table as dress_table
from mmcrawl.replay.demo.dice import Dice
from mmcrawl.replay.demo.model import Page
from mmcrawl.replay.demo.texts import about, fill, paragraphs, prose
from mmcrawl.replay.web import StoredResponse, answer

DRESSES = {
    "table": dress_table.page,
    "div": dress_div.page,
    "html5": dress_html5.page,
}


def respond(page: Page, seed: int) -> StoredResponse:
    """The page, written out in its dress and charset; `seed` chooses its sentences.

    Only the parts of the sites that are in UTF-8 name it in the header too.
    """
    dice = Dice(seed, page.url, "text")
    make = dress_table.frameset if page.frames else DRESSES[page.style.dress]
    body = make(page, _text(page, dice)).encode(page.style.charset)
    in_header = "; charset=utf-8" if page.style.charset == "utf-8" else ""
    return answer(200, f"text/html{in_header}", body)


def _text(page: Page, dice: Dice) -> list[str]:
    language = page.style.language
    if page.lesson:
        sentences = about(page.lesson, max(2, page.sentences - 4), language, dice)
    elif page.prose:
        sentences = prose(language)[page.prose].sentences
    else:
        return []
    text = paragraphs(sentences, len(sentences) if page.lesson else page.sentences, language, dice)
    if page.prose == "news" and dice.chance(0.1):
        text.append(fill("物理组的{name}老师为活动拍摄了照片。", language, dice))
    return [escape(paragraph, quote=False) for paragraph in text]
