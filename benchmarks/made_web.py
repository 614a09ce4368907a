"""Writes a web of hosts of equal size, for a crawl by several processes.

Every host has an index and directories of pages. A page has some 50 links: to the directories, to
pages beside it, to pages elsewhere on its host and to two other hosts; with its text and markup it
comes to 25-60 KB. Some directories are lectures on optics, whose pages mostly show a video; pages
of the others rarely do. The same arguments write the same bytes.
"""

from __future__ import annotations

import random
from pathlib import Path

_DIRECTORIES = 15
_LECTURES = 4  # of them
_BESIDE, _ELSEWHERE, _AWAY = 20, 12, 2  # links, besides those to all directories
_TOPIC = ("optics", "lens", "light", "refraction", "prism")
_SYLLABLES = ("ka", "lo", "mi", "ten", "ra", "vu", "shi", "pol", "ner", "ta", "bo", "dri", "fen")


def write_web(folder: Path, hosts: int, pages: int, seed: int = 1) -> list[str]:
    """Write a web of about `pages` pages; return the names of its hosts."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(4000)]
    names = [f"host{number:02d}.test" for number in range(hosts)]
    count = (pages // hosts - 1) // _DIRECTORIES
    for name in names:
        _Host(name, names, count, words, rng).write(folder / name)
    return names


class _Host:
    """One host: directories of `count` pages each."""

    def __init__(
        self, name: str, names: list[str], count: int, words: list[str], rng: random.Random
    ) -> None:
        self._others = [other for other in names if other != name]
        self._words, self._rng = words, rng
        kinds = ["lectures"] * _LECTURES + ["notes"] * (_DIRECTORIES - _LECTURES)
        self._directories = [f"{kind}{number}" for number, kind in enumerate(kinds)]
        rng.shuffle(self._directories)
        self._pages = {
            directory: ["index", *(f"{rng.choice(words)}-{n}" for n in range(1, count))]
            for directory in self._directories
        }

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "index.html").write_text(self._page("notes", self._directories[0]))
        for directory, pages in self._pages.items():
            (folder / directory).mkdir()
            for page in pages:
                (folder / directory / f"{page}.html").write_text(self._page(directory, directory))

    def _page(self, kind: str, directory: str) -> str:
        rng = self._rng
        on_topic = rng.random() < (0.8 if kind.startswith("lectures") else 0.02)
        title = " ".join([*(_TOPIC[:3] if on_topic else ()), *rng.choices(self._words, k=3)])
        film = f'<video src="/films/{rng.randrange(10**9)}.mp4"></video>' if on_topic else ""
        parts = [self._paragraph(on_topic) for _ in range(rng.randint(20, 50))]
        anywhere = rng.choices(self._directories, k=_ELSEWHERE)
        lists = [
            ("Contents", [f"/{name}/index.html" for name in self._directories]),
            ("More here", [self._address(directory) for _ in range(_BESIDE)]),
            ("Elsewhere", [self._address(elsewhere) for elsewhere in anywhere]),
            ("Friends", [f"http://{rng.choice(self._others)}/index.html" for _ in range(_AWAY)]),
        ]
        links = "".join(f"<div class='box'><h3>{t}</h3>{self._list(of)}</div>" for t, of in lists)
        return (
            f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{title}</title></head><body>"
            f"<h1>{title}</h1>{film}{''.join(parts)}{links}</body></html>\n"
        )

    def _address(self, directory: str) -> str:
        return f"/{directory}/{self._rng.choice(self._pages[directory])}.html"

    def _list(self, addresses: list[str]) -> str:
        items = (
            f"<li class='entry'><a class='link' href='{address}'>{self._anchor(address)}</a></li>"
            for address in addresses
        )
        return f"<ul class='entries'>{''.join(items)}</ul>"

    def _anchor(self, address: str) -> str:
        likely = 0.6 if "/lectures" in address else 0.1
        own = [self._rng.choice(_TOPIC)] if self._rng.random() < likely else []
        return " ".join([*own, *self._rng.choices(self._words, k=3)])

    def _paragraph(self, on_topic: bool) -> str:
        rng = self._rng
        text = rng.choices(self._words, k=rng.randint(60, 140))
        if on_topic:
            text[5:5] = rng.choices(_TOPIC, k=3)
        sentences = " ".join(text)
        return f"<p class='text'><span style='color:#222'>{sentences}.</span></p>\n"
