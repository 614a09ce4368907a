"""Small pages made of pieces of labelled ones, to train the content model on.

Labelled sets hold pages of large sites, with menus, footers and hundreds of lines. Many pages of a
school's web are a heading and a few lines, and a model that never saw such takes half of them for
noise. These are made of lines whose label is known, in the markup that people write by hand.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from html import escape

_SHORTEST, _LONGEST = 12, 500  # characters of a line
_MOST_LINES = 9
_NAMES = ("Anna", "wang", "J. Smith", "Li Lei", "Müller", "guest", "Teacher", "小明")


def small_page(
    content: Sequence[str], noise: Sequence[str], chance: random.Random
) -> tuple[bytes, str, str] | None:
    """Return a page, its content and its genre; None if there are too few lines to make it of.

    A few lines alone have no genre, "" in its place.

    Args:
        content: Lines that are content. The first taken is the page's title, which is told apart.
        noise: Lines that are not.
        chance: What decides.
    """
    usable = [line for line in content if _SHORTEST <= len(line) <= _LONGEST]
    short = [line for line in noise if 2 <= len(line) <= 60]
    if len(usable) < 4:
        return None
    start = chance.randrange(len(usable) - 2)
    lines = usable[start : start + chance.randint(2, _MOST_LINES)]
    title, *lines = lines
    kind = chance.choice(
        ("plain",) * 3 + ("comments",) * 2 + ("forum", "links", "teasers", "figure")
    )
    head = f"<title>{escape(title)}</title>"
    if chance.random() < 0.7:
        head += f"<h1>{escape(title)}</h1>"
    if kind == "forum":
        body, genre = "".join(_posts(lines, chance)), "forum"
    elif kind == "links":
        items = (f"<li><a href=/{n}.htm>{escape(line)}</a>" for n, line in enumerate(lines))
        body, genre = f"<ul>{''.join(items)}</ul>", ""
    elif kind == "teasers":
        lines = lines[: len(lines) // 2 * 2] or lines * 2
        body, genre = "".join(_teasers(lines, chance)), "listing"
    else:
        body, genre = _marked(lines, chance), ""
    if kind == "figure":
        body = f"<figure><img src=a.png><figcaption>{escape(lines[0])}</figcaption></figure>" + (
            _marked(lines[1:], chance)
        )
    if kind == "comments":
        others = chance.sample(usable, min(len(usable), chance.randint(1, 8)))
        others = [line for line in others if line not in lines]
        body, genre = f"<article>{body}</article>{_comments(others, chance)}", "article"
    page = _around(head + body, short, chance)
    return page.encode(), "\n".join(lines), genre


def _marked(lines: Sequence[str], chance: random.Random) -> str:
    """Return lines as people mark them up."""
    texts = [escape(line) for line in lines]
    ways = (
        *("".join(f"<{tag}>{text}</{tag}>" for text in texts) for tag in ("p", "p", "p", "div")),
        *(gap.join(texts) for gap in ("<br>", "<br>\n", "<br><br>")),
        "<ul>" + "".join(f"<li>{text}" for text in texts) + "</ul>",
        "<table>" + "".join(f"<tr><td>{text}</td></tr>" for text in texts) + "</table>",
        "<pre>" + "\n".join(texts) + "</pre>",
        "<dl>" + "".join(f"<dt>{n}<dd>{text}" for n, text in enumerate(texts)) + "</dl>",
    )
    return chance.choice(ways)


def _posts(lines: Sequence[str], chance: random.Random) -> Iterator[str]:
    post, text = chance.choice((("post", "content"), ("message", "body"), ("reply", "post-text")))
    tag = chance.choice(("p", "div"))
    for line in lines:
        who = f"<div class=author>{chance.choice(_NAMES)}</div>"
        yield (
            f"<div class={post}>{who}<div class={text}><{tag}>{escape(line)}</{tag}></div>"
            "<a href=#>Report</a> <a href=#>Reply</a></div>"
        )


def _teasers(lines: Sequence[str], chance: random.Random) -> Iterator[str]:
    """Yield what leads to other pages: a linked line, and mostly a line below it."""
    tag, heading = chance.choice((("article", "h2"), ("div", "h3"), ("li", "h2"), ("div", "b")))
    for number in range(0, len(lines) - 1, 2):
        below = f"<p>{escape(lines[number + 1])}</p>"
        link = f"<a href={number}.htm>{escape(lines[number])}</a>"
        yield f"<{tag}><{heading}>{link}</{heading}>{below}</{tag}>"


def _comments(lines: Sequence[str], chance: random.Random) -> str:
    around, one = chance.choice(
        (("comments", "comment"), ("commentlist", "comment"), ("respond", "comment-body"))
    )
    texts = (f"<li class={one}><p>{escape(line)}</p><a href=#>Reply</a>" for line in lines)
    heading = chance.choice(("Comments", "评论", f"{len(lines)} comments", "What readers say"))
    return f"<div class={around}><h3>{heading}</h3><ol>{''.join(texts)}</ol></div>"


def _around(page: str, noise: Sequence[str], chance: random.Random) -> str:
    """Put a menu before a page and a footer behind it, or neither."""
    if noise and chance.random() < 0.5:
        menu = chance.sample(noise, min(len(noise), chance.randint(2, 16)))
        links = "".join(f"<li><a href=/{n}>{escape(name)}</a>" for n, name in enumerate(menu))
        ways = (
            f"<nav>{links}</nav>",
            f"<nav><ul>{links}</ul></nav>",
            f"<ul class=menu>{links}</ul>",
            f"<div class=sidebar><ul>{links}</ul></div>",
        )
        page = chance.choice(ways) + page
    if noise and chance.random() < 0.4:
        page += f"<footer>{escape(chance.choice(noise))}</footer>"
    return page
