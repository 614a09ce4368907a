"""Words of archived pages, and addresses, as they can be shown: nothing in them acts on what stands
around."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from urllib.parse import quote, unquote, urlencode, urlsplit

from markupsafe import Markup

from mmcrawl.text.words import has_han
from mmcrawl.text.writing import as_called
from mmcrawl.topic.loading import shipped_topic, topic_names, topic_titles

# Controls, what steers the direction of writing, and what is no character.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPES = re.compile("(?:%[89A-Fa-f][0-9A-Fa-f])+")
_ACCEPTED = re.compile(r"([a-z]+)(?:-[a-z0-9-]+)?(?:;q=([01](?:\.[0-9]*)?))?")
_LONGEST = 4_000
_AROUND = 120  # characters of unchanged text that are shown beside a change


def plain(text: str) -> str:
    """Return a text without what steers the direction of writing, a terminal, or an encoder."""
    return _SURROGATES.sub("\ufffd", _STEERING.sub("\ufffd", text))


def short(text: str, longest: int = 200) -> str:
    """Return a text in one line, of at most so many characters."""
    text = " ".join(text[: 4 * longest + 1].split())
    if len(text) > longest:
        text = text[: longest - 1].rstrip() + "…"
    return plain(text)


def long(text: str, longest: int = _LONGEST) -> str:
    """Return a text of at most so many characters, with its white space."""
    return plain(text if len(text) <= longest else text[:longest] + "…")


def around(text: str, first: bool, last: bool) -> str:
    """Return the ends of an unchanged text, those that stand beside a change.

    Args:
        first, last: Whether no change stands before, or behind it.
    """
    if len(text) <= 2 * _AROUND:
        return plain(text)
    before = "" if first else text[:_AROUND]
    after = "" if last else text[-_AROUND:]
    return plain(f"{before} … {after}")


def isolated(text: str, longest: int = 200) -> str:
    """Return a text isolated for a sentence: it cannot change the direction of the rest."""
    text = short(text, longest)
    return text if text.isascii() else f"\u2068{text}\u2069"


def marked(text: str, marks: Sequence[tuple[int, int]]) -> list[tuple[bool, str]]:
    """Return a text in pieces, each with whether it is marked."""
    pieces = []
    at = 0
    for start, end in marks:
        pieces += [(False, plain(text[at:start])), (True, plain(text[start:end]))]
        at = end
    return [piece for piece in [*pieces, (False, plain(text[at:]))] if piece[1]]


def when(time: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a time (Unix seconds) in UTC; the number where no calendar has it."""
    if time is None:
        return "–"
    try:
        return datetime.fromtimestamp(time, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return f"{time:g} s"


def moment(time: float | None) -> Markup:
    """Return a time (Unix seconds) as an element, which a script shows in the reader's own time.

    >>> moment(1_700_000_000)
    Markup('<time datetime="2023-11-14T22:13:20Z">2023-11-14 22:13 UTC</time>')
    """
    said = when(time)
    if time is None or said.endswith(" s"):
        return Markup.escape(said)
    exact = when(time, "%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}">{} UTC</time>').format(exact, said)


def duration(seconds: float) -> str:
    """Return a length for people.

    >>> duration(61.5), duration(3_700)
    ('1:02', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def readable(url: str) -> str:
    """Return an address as people read it, its escapes undone where they are text.

    >>> readable("http://xn--fiqs8s.test/%E8%AF%BE.html?a=%FF")
    'http://中国.test/课.html?a=%FF'
    """
    try:
        host = urlsplit(url).hostname or ""
        if "xn--" in host:
            url = url.replace(host, host.encode().decode("idna"), 1)
    except (UnicodeError, ValueError):
        pass
    return _ESCAPES.sub(_unescaped, url)


def _unescaped(escapes: re.Match[str]) -> str:
    try:
        text = unquote(escapes[0], errors="strict")
    except UnicodeDecodeError:
        return escapes[0]
    return text if text.isprintable() and not text.isascii() else escapes[0]


def address(path: str, /, **values: object) -> str:
    """Return a path of ours with parameters; those that are None or "" are left out.

    >>> address("/page", url="http://h.test/?a=1&b", n=None)
    '/page?url=http%3A%2F%2Fh.test%2F%3Fa%3D1%26b'
    """
    given = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


def live_address(url: str) -> str:
    """Return an address to follow into the live web: http and https only, "" for any other.

    >>> live_address("javascript:alert(1)"), live_address("http://h.test/a b")
    ('', 'http://h.test/a%20b')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return quote(url, safe="%/:=&?~#+!$,;'@()*[]", errors="replace")


LANGUAGES = ("en", "zh")


@lru_cache(maxsize=1)
def sentences() -> dict[str, tuple[str, ...]]:
    """Return the sentences by name, each in all :data:`LANGUAGES`."""
    read = tomllib.loads((files("mmcrawl.browse") / "words.toml").read_text(encoding="utf-8"))
    return {name: tuple(texts) for name, texts in read.items()}


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences of the interface in one language; call it with the name of a sentence.

    Attributes:
        language: ``en`` or ``zh``.
        chosen: Whether the reader named it in the address, so that links must go on naming it.

    >>> Words("en")("pages", n=1), Words("en")("pages", n=1200)
    ('1 page', '1,200 pages')
    """

    language: str
    chosen: bool = False

    def __call__(self, name: str, /, **values: object) -> str:
        """Return a sentence; what it names is isolated, so that it cannot turn the sentence round.

        Raises:
            KeyError: there is no such sentence.
        """
        text = as_called(sentences()[name][LANGUAGES.index(self.language)])
        if "n" in values and "|" in text:  # else it is a character like others
            one, many = text.split("|")
            text = one if values["n"] == 1 else many
        shown = {key: _shown(value) for key, value in values.items()}
        if any(isinstance(value, Markup) for value in shown.values()):
            return Markup.escape(text).format_map(shown)
        return text.format_map(shown)

    def knows(self, name: str) -> bool:
        return name in sentences()

    def maybe(self, name: str) -> str:
        """Return a sentence, or what follows the first dot of its name if there is none."""
        return self(name) if self.knows(name) else name.partition(".")[2]

    def topic(self, name: str) -> str:
        """Return what topics that ship with mmcrawl are called, the names of others as they are."""
        place = LANGUAGES.index(self.language)
        known = topic_titles()
        return ", ".join(known[one][place] if one in known else one for one in name.split(","))


def topic_words(words: Sequence[str], title: str) -> tuple[str, ...]:
    """Return words of a topic as the page says them: those of a page without Chinese in English."""
    if has_han(title):
        return tuple(words)
    return tuple(dict.fromkeys(_english_words().get(word, word) for word in words))


@lru_cache(maxsize=1)
def _english_words() -> dict[str, str]:
    topics = map(shipped_topic, topic_names())
    concepts = (one for topic in topics for one in (*topic.concepts, *topic.subject_words))
    english = ((one[0], next(filter(str.isascii, one), "")) for one in concepts)
    return {word: said for word, said in english if said}


def words_for(chosen: str, remembered: str, accepted: str) -> Words:
    """Return the language that is chosen, or was before, else the first of Accept-Language.

    >>> words_for("", "", "fr, zh-CN;q=0.8, en;q=0.5").language
    'zh'
    """
    if chosen in LANGUAGES:
        return Words(chosen, chosen=True)
    return Words(remembered if remembered in LANGUAGES else _accepted(accepted[:500]))


@lru_cache(maxsize=256)
def _accepted(header: str) -> str:
    parts = filter(None, map(_ACCEPTED.fullmatch, header.lower().replace(" ", "").split(",")))
    wanted = [(float(part[2] or 1), part[1]) for part in parts if part[1] in LANGUAGES]
    quality, language = max(wanted, key=lambda one: one[0], default=(0, ""))
    return language if quality else LANGUAGES[0]


def _shown(value: object) -> str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return isolated(str(value), 200)
