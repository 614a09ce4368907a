"""A web in which media are rare and lists are many, as blogs make them, for search_lab.py.

One page in a hundred has a recording, and one tag of many lists these. All pages have the same menu
of posts, months, categories and tags, 700 links in a web of 500 posts. Lists of these, and three
chains of numbered pages (by date, title and length), name posts that are mostly known already.
Where the recordings are is chance, and breadth first finds them soon or late: judge by the mean of
several webs. The same arguments write the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

NAME, SEEDS = "needle{}.test", (1, 2, 3)
_SYLLABLES = ("ka", "lo", "mi", "ten", "ra", "vu", "shi", "pol", "ner", "ta", "bo", "dri", "fen")
_LISTS = {"month": 0.1, "category": 0.1, "tag": 0.8}  # as many as posts, times that
_POSTS_IN_MENU = 0.4
_RECORDINGS = 0.025  # of the posts
_PER_PAGE = 12


def write_needle_webs(folder: Path, posts: int = 500, seeds: Iterable[int] = SEEDS) -> None:
    """Write webs of 2.3 pages a post, and their manifest."""
    hosts = {NAME.format(seed): seed for seed in seeds}
    for host, seed in hosts.items():
        for path, html in _pages(posts, Random(seed)):
            file = folder / host / path.strip("/") / "index.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(html, encoding="utf-8")
    about = {host: {"start": f"http://{host}/"} for host in hosts}
    (folder / "manifest.json").write_text(json.dumps(about), encoding="utf-8")


def _pages(count: int, dice: Random) -> Iterator[tuple[str, str]]:
    posts = [f"/{2001 + n % 12}/{_words(dice, 4, '-')}-{n}/" for n in range(count)]
    lists: dict[str, list[str]] = {
        f"/{kind}/{_words(dice, 2, '-')}-{n}/": []
        for kind, share in _LISTS.items()
        for n in range(round(share * count))
    }
    recorded = dice.sample(posts, round(_RECORDINGS * count))
    lists[dice.choice([path for path in lists if path.startswith("/tag/")])] += recorded
    for post in posts:
        for kind, number in (("month", 1), ("category", 1), ("tag", 4)):
            own = [path for path in lists if path.startswith(f"/{kind}/")]
            for path in dice.sample(own, number):
                lists[path] += [post] if post not in lists[path] else []
    title = {
        path: path.strip("/").rpartition("/")[2].replace("-", " ") for path in (*posts, *lists)
    }
    menu = _list("menu", [*dice.sample(posts, round(_POSTS_IN_MENU * count)), *lists], title)

    def page(path: str, body: str) -> tuple[str, str]:
        head = f"<!DOCTYPE html><html><head><title>{title.get(path, path)}</title></head>"
        return path, f"{head}<body><main>{body}</main>{menu}</body></html>\n"

    for post in posts:
        own = [path for path, named in lists.items() if post in named]
        sound = f"<audio src='{post}talk.mp3'></audio>" if post in recorded else ""
        text = f"<p>{_words(dice, 120, ' ')}.</p>"
        yield page(post, f"{sound}{text}{_list('filed', own, title)}")
    for path, named in lists.items():
        yield page(path, _list("posts", named, title))
    for first, own in (
        ("/", posts),
        ("/titles/", sorted(posts)),
        ("/long/", sorted(posts, key=len)),
    ):
        for path, body in _chain(first, own, title):
            yield page(path, body)


def _chain(first: str, posts: Sequence[str], title: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the pages of a list, each with links to the next one and to the other lists."""
    count = -(-len(posts) // _PER_PAGE)
    paths = [first, *(f"{first}page/{n}/" for n in range(2, count + 1))]
    chains = "<a href='/titles/'>By title</a> <a href='/long/'>By length</a>"
    for n, path in enumerate(paths):
        more = f"<a class='next' href='{paths[n + 1]}'>Older</a>" if n + 1 < count else ""
        named = posts[n * _PER_PAGE : (n + 1) * _PER_PAGE]
        yield path, f"{chains}{_list('posts', named, title)}{more}"


def _list(kind: str, paths: Iterable[str], title: dict[str, str]) -> str:
    items = (f"<li><a href='{path}'>{title[path]}</a></li>" for path in paths)
    return f"<ul class='{kind}'>{''.join(items)}</ul>\n"


def _words(dice: Random, count: int, between: str) -> str:
    return between.join("".join(dice.choices(_SYLLABLES, k=2)) for _ in range(count))
