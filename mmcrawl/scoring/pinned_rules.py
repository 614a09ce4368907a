"""Rules for addresses that a person wrote, or a crawl has learnt: which links come first, or never.

A rule is a glob or a regular expression, with a weight; the first rule that matches counts.

A *glob* begins with ``http://``, which stands for ``https://`` too. ``*`` is any text without a
slash, in a query without an ampersand; ``**`` at the end is whatever follows, if anything. A glob
without a query is for addresses without one. So a learnt pattern is a glob (`glob_of`).

A *regular expression* follows ``re:``, is in RE2's syntax, and is looked for anywhere in the
address. RE2 takes time proportional to the length of the address, whatever a site makes of it.

Both are for addresses in the form in which patterns are printed (`address_form`): host in small
letters, query sorted, without fragment, ``*`` as ``%2A``. One with characters beyond ASCII is for
what such an address reads as, whether it has them escaped in UTF-8, GB 18030 or Big5.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from w3lib.url import safe_url_string

from mmcrawl.page.html.encoding import BIG5, GB
from mmcrawl.scoring.patterns import ANY, url_parts

if TYPE_CHECKING:
    import re2

REGEX = "re:"
_SCHEMES = ("http://", "https://")
_REST = "**"
_HIGH = "%[89A-Fa-f][0-9A-Fa-f]"
_ESCAPED = re.compile(f"(?:{_HIGH})+")
# The second byte of a character may be one that is not escaped.
_SECOND = "(?:%[4-9A-Fa-f][0-9A-Fa-f]|[@-~])"
_DIGIT = "(?:%3[0-9]|[0-9])"
_DOUBLE = re.compile(f"(?:{_HIGH}(?:{_SECOND}|{_DIGIT}{_HIGH}{_DIGIT}))+")
_READINGS = (("utf-8", _ESCAPED), (GB, _DOUBLE), (BIG5, _DOUBLE))
_MOST_MEMORY = 1 << 20  # bytes of a compiled expression: its size bounds the time a character takes


@dataclass(frozen=True, slots=True)
class PinnedRule:
    """One rule.

    Attributes:
        pattern: as it was written, with ``re:`` if it is a regular expression.
        weight: links of a greater weight come first; 0 is never; at most
            `mmcrawl.frontier.ranking.MOST_WEIGHT`.
        topic: the only topic it is for, "" for any.
        place: where it stands, as "FILE, line 3"; "" for nowhere.
    """

    pattern: str
    weight: int = 1
    topic: str = ""
    place: str = ""

    @property
    def regex(self) -> str:
        """The regular expression searched for in addresses; ValueError for a wrong glob."""
        is_regex = self.pattern.startswith(REGEX)
        return self.pattern.removeprefix(REGEX) if is_regex else glob_regex(self.pattern)

    @property
    def host(self) -> str:
        """The only host it is for, "" for any."""
        if self.pattern.startswith(REGEX):
            return ""
        host = re.split("[/?]", _without_scheme(self.pattern), maxsplit=1)[0].lower()
        return "" if ANY in host else host


class PinnedRules:
    """Rules in the order in which they are tried.

    A look-up takes the rules of the address's own host, and those of any host, one by one.

    Args:
        rules: the rules.

    Raises:
        ValueError: a pattern is not understood.
    """

    def __init__(self, rules: Iterable[PinnedRule] = ()) -> None:
        self.rules = tuple(rules)
        regexes = [rule.regex for rule in self.rules]
        self._compiled = [compiled(regex) for regex in regexes]
        self._is_ascii = [regex.isascii() for regex in regexes]
        self._of_host: dict[str, list[int]] = defaultdict(list)
        for number, rule in enumerate(self.rules):
            self._of_host[rule.host].append(number)

    def __bool__(self) -> bool:
        return bool(self.rules)

    @cached_property
    def digest(self) -> str:
        """A digest of these rules, wherever they are stored; "" for none."""
        told = [(rule.regex, rule.weight) for rule in self.rules]
        return sha256(repr(told).encode()).hexdigest()[:16] if told else ""

    def plain(self) -> list[tuple[str, int, str, str]]:
        """Return the fields of each rule."""
        return [astuple(rule) for rule in self.rules]

    def matching(self, url: str) -> Iterator[PinnedRule]:
        """Yield the rules that match an address; the first one counts."""
        form = address_form(url)
        host = form.partition("://")[2].partition("/")[0]
        text = form.encode("utf-8", "replace")
        readings: Sequence[bytes] = ()
        for number in sorted(chain(self._of_host.get(host, ()), self._of_host.get("", ()))):
            if not self._is_ascii[number] and not readings:
                readings = [one.encode("utf-8", "replace") for one in _readings(form)]
            texts = [text] if self._is_ascii[number] else readings
            if any(map(self._compiled[number].search, texts)):
                yield self.rules[number]

    def first(self, url: str) -> PinnedRule | None:
        """Return the rule that counts for an address, None without one."""
        return next(self.matching(url), None)

    def weight_of(self, url: str) -> int | None:
        """Return the weight of the rule for an address, None without one."""
        rule = self.first(url)
        return None if rule is None else rule.weight


def address_form(url: str) -> str:
    """Return the form of an address that rules are for.

    >>> address_form("https://H.test/show.php?b=2&a=*#top")
    'https://h.test/show.php?a=%2A&b=2'
    """
    parts = url_parts(url)
    if not parts.host:
        return url
    path, query = "/".join(parts.directories), "&".join(map("=".join, parts.query))
    return f"{url.partition(':')[0].lower()}://{parts.host}/{path}" + (f"?{query}" if query else "")


def _readings(form: str) -> set[str]:
    """Return the readings of an address, in every encoding that its escapes may use.

    >>> sorted(_readings("http://h.test/%CE%EF"))  # UTF-8, Big5, GB 18030
    ['http://h.test/%CE%EF', 'http://h.test/昜', 'http://h.test/物']
    """
    return {_read(form, encoding, escapes) for encoding, escapes in _READINGS}


def _read(text: str, encoding: str, escapes: re.Pattern[str]) -> str:
    """Return a text with the escapes that are characters of an encoding as these."""

    def read(match: re.Match[str]) -> str:
        try:
            return unquote_to_bytes(match[0]).decode(encoding)
        except UnicodeDecodeError:
            return match[0]

    return escapes.sub(read, text)


def compiled(regex: str) -> "re2._Regexp":
    """Return a compiled regular expression that matches in linear time.

    Raises:
        ValueError: it is none in RE2's syntax, or too large.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        why = error.args[0]
        why = why.decode("utf-8", "replace") if isinstance(why, bytes) else why
        raise ValueError(f"{why} (RE2 has no look-around and no back-references)") from None


def glob_of(pattern: str) -> str:
    """Return the glob that matches what a learnt pattern matches, given its text.

    A learnt pattern that ends in ``/**`` is for addresses without a query.
    """
    return f"{pattern}?" if pattern.endswith(f"/{_REST}") else pattern


def glob_regex(glob: str) -> str:
    """Return the regular expression that matches what a glob matches.

    >>> glob_regex("http://h.test/xy/*")
    '^https?://h\\\\.test/xy/[^/?]*$'

    Raises:
        ValueError: it is no glob; the message says why, and what to do.
    """
    text = _without_scheme(glob)
    if not text:
        raise ValueError(f"begin it with {', '.join(_SCHEMES)} or {REGEX}")
    if "#" in text:
        raise ValueError("what follows # is not sent to the host; leave it out")
    address, mark, query = text.partition("?")
    host, slash, path = address.partition("/")
    rest = path.endswith(_REST)
    if _REST in host or _REST in path.removesuffix(_REST) or (_REST in query and query != _REST):
        raise ValueError(f"{_REST} may stand at the end only; write {ANY} within")
    if not host or not slash:
        raise ValueError("write host and path, as http://h.test/ or http://h.test/**")
    any_query = query == _REST or (rest and not mark)
    end = (r"(?:\?.*)?" if any_query else _query_regex(query)) + "$"
    whole = f"^https?://{_regex(host.lower(), '[^/]*')}"
    if not rest:
        return f"{whole}/{_regex(path, '[^/?]*')}{end}"
    before = path.removesuffix(_REST)
    if f"/{before}".endswith("/"):  # the directory itself is meant too
        return f"{whole}{_regex(f'/{before}'.removesuffix('/'), '[^/?]*')}(?:/[^?]*)?{end}"
    return f"{whole}/{_regex(before, '[^/?]*')}[^?]*{end}"


def _query_regex(query: str) -> str:
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    if any(ANY in key for key, _, _ in pairs):
        raise ValueError(
            f"{ANY} may stand for values of a query only; write ?{_REST} for any query"
        )
    # Those of one key stay in order: learnt ones are sorted by the values they had.
    pairs.sort(key=lambda pair: pair[0])
    told = "&".join(f"{_regex(key, '')}={_regex(value, '[^&]*')}" for key, _, value in pairs)
    return rf"\?{told}" if told else ""


def _regex(text: str, any_text: str) -> str:
    return any_text.join(re.escape(part) for part in text.split(ANY))


def _without_scheme(glob: str) -> str:
    """Return an address without its scheme, "" if there is none; the host as it is requested."""
    scheme = next((scheme for scheme in _SCHEMES if glob.startswith(scheme)), None)
    if scheme is None:
        return ""
    if not glob.isascii():
        glob = _read(safe_url_string(glob), *_READINGS[0])
    return glob.removeprefix(scheme)
