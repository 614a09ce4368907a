"""Made versions of pages for the test cases of Song et al. 2008 (table 1), with what changes.

Each series is of one kind that the table names: layouts that change, tiny changes, many scripts.
From one version to the next one sentence, chosen in turn, has another number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

VERSIONS = 6
_TEASERS = 24
_WORDS = "lever pulley wheel lens prism field charge wave orbit spring gear magnet".split()

Layout = Callable[[Sequence[str]], str]


def versions(kind: str, number: int = VERSIONS, teasers: int = _TEASERS) -> Iterator[bytes]:
    """Yield versions of a page of a kind, one of `KINDS`."""
    layouts = KINDS[kind]
    texts = [_sentence(place, 0) for place in range(teasers)]
    for version in range(number):
        if version:
            place = version * 5 % teasers
            texts[place] = _sentence(place, version)
        yield layouts[version % len(layouts)](texts).encode()


def changed_text(version: int) -> str:
    """Return the sentence that is new in a version, from 1, of so many teasers as is usual."""
    return _sentence(version * 5 % _TEASERS, version)


def _sentence(place: int, version: int) -> str:
    words = [_WORDS[(place * 5 + step) % len(_WORDS)] for step in range(9)]
    return f"Report {place} on the {' '.join(words)}, edition {version}."


def _page(inside: str) -> str:
    return (
        "<!DOCTYPE html><html><head><title>Physics</title></head><body><div><a href='/'>Start</a>"
        f" <a href='/news'>News</a> <a href='/media'>Media</a></div>{inside}"
        "<div><p>All texts are made for a measurement.</p></div></body></html>"
    )


def _boxes(texts: Sequence[str], extra: str = "") -> str:
    teasers = "".join(
        f"<div><h2>Teaser {n}</h2>{extra}<p>{text}</p></div>" for n, text in enumerate(texts)
    )
    return _page(f"<div>{teasers}</div>")


def _cells(texts: Sequence[str]) -> str:
    rows = "".join(f"<tr><td><p>{text}</p></td><td><p>Aside.</p></td></tr>" for text in texts)
    return _page(f"<table>{rows}</table>")


def _entries(texts: Sequence[str]) -> str:
    return _page(f"<ul>{''.join(f'<li><p>{text}</p></li>' for text in texts)}</ul>")


def _nested(texts: Sequence[str]) -> str:
    around = 60
    deep = "<table><tr><td>" * around, "</td></tr></table>" * around
    return _page(
        "".join(f"{deep[0]}<p>{text}</p><p>Part {n}.</p>{deep[1]}" for n, text in enumerate(texts))
    )


def _bare(texts: Sequence[str]) -> str:
    return f"<p>{' '.join(texts)}"


def _scripted(texts: Sequence[str]) -> str:
    return _boxes(texts, "<script>document.write('<div><p>' + \"</div>\" + '</p>');</script>" * 4)


def _prose(texts: Sequence[str]) -> str:
    prose = "<br><br>".join(f"{text} {'Nothing else happens. ' * 12}" for text in texts)
    return _page(f"{prose}<table><tr><td>Beside</td><td>the text</td></tr></table>")


def _blank(texts: Sequence[str]) -> str:
    return _boxes(texts, "<br>&nbsp;&nbsp;<br>" + " \n\t" * 200)


def _fragments(texts: Sequence[str]) -> str:
    return "</td><div><p>" + "<div><b><p>".join(texts) + "</i></table><p class='open"


def _pictured(texts: Sequence[str]) -> str:
    return _boxes(texts, "".join(f"<img src='/{n}.jpg' width=80 height=60>" for n in range(12)))


KINDS: Mapping[str, Sequence[Layout]] = {
    "layouts": (_boxes, _cells, _entries),
    "tiny": (_boxes,),
    "complex": (_nested,),
    "simple": (_bare,),
    "scripts": (_scripted,),
    "text": (_prose,),
    "blanks": (_blank,),
    "fragments": (_fragments,),
    "images": (_pictured,),
}
"""The layouts that versions of a kind take in turn."""
