"""The objects of a browser that scripts move it with: window, location, document, elements.

It is a common one on a desk, which was never on the page before: without cookies, not in a frame as
far as anybody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode, urlsplit

from cssselect import SelectorError
from lxml import etree, html

from mmcrawl.page.javascript import Evaluator, Function
from mmcrawl.page.javascript_texts import ROUNDING, UNKNOWN, text_of, url_part
from mmcrawl.page.urls import joined_url

_AGENT = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36"
)
_SIZES = {"width": 1920, "height": 1080, "availWidth": 1920, "availHeight": 1040}
_INNER = {"innerWidth": 1920, "innerHeight": 950, "outerWidth": 1920, "outerHeight": 1040}
_WINDOWS = ("window", "self", "top", "parent", "globalThis", "frames")
_AT_ONCE = 60_000
"""Milliseconds that a timer may wait, as in `moves`."""
_LONGEST_SELECTOR = 100
_LARGEST = 1 << 20
_TIMERS = frozenset({"setTimeout", "setInterval"})
_CALLS_BACK = frozenset(
    {"requestAnimationFrame", "requestIdleCallback", "queueMicrotask", "setImmediate", "Promise"}
)
_CALLS_BACK_LATER = frozenset({"then", "finally", "done", "always", "ready"})
_LOADS = frozenset({"load", "DOMContentLoaded", "pageshow", "readystatechange", "ready"})
_PLACES = frozenset({"appendChild", "append", "prepend", "insertBefore"})
_HERE = frozenset({"_self", "_top", "_parent"})
_CLICKS = frozenset({"click", "submit", "requestSubmit", "trigger"})
_TEXTS = frozenset({"textContent", "innerText", "text", "innerHTML"})
_ATTRIBUTES = {"httpEquiv": "http-equiv", "className": "class"}


class _Thing:
    """An object of the browser; `as_text` is what it is as a text."""

    def __init__(self, name: str, as_text: str = "", /, **values: Any) -> None:
        self.name, self.as_text, self.values = name, as_text or UNKNOWN, values


class Browser:
    """Shows a page to scripts.

    Args:
        utf8: The page; None shows them no elements.
        url: Its address.

    Attributes:
        moves: Where they have led, and whether for certain.
        refreshes: Contents of the refreshes that they have written into the page.
        needs_page: Whether they might lead elsewhere if they were shown the elements.
    """

    def __init__(self, utf8: bytes | None, url: str) -> None:
        self._lacks_page = self._is_open = False
        self.moves: list[tuple[str, bool]] = []
        self.refreshes: list[str] = []
        self._utf8, self._url = utf8, url
        self._tree: Any = None
        self._named = ""  # what the script says the page's address is
        self._at_load: list[tuple[Any, bool]] = []
        self._location = _Thing("location", url)
        host = urlsplit(url).hostname or ""
        self._document = _Thing(
            "document", URL=url, documentURI=url, baseURI=url, cookie="", referrer="", domain=host,
            location=self._location, readyState="complete", body=_Thing("body"), title="",
        )  # fmt: skip
        self._window = _Thing("window", "", opener=None, **_INNER)
        storage = _Thing("storage")
        self._names = {
            **dict.fromkeys(_WINDOWS, self._window),
            "document": self._document,
            "location": self._location,
            "history": _Thing("history"),
            "navigator": _Thing(
                "navigator", userAgent=_AGENT, appName="Netscape", platform="Win32",
                vendor="Google Inc.", appVersion=_AGENT.partition("/")[2], cookieEnabled=True,
            ),
            "screen": _Thing("screen", "", **_SIZES),
            "localStorage": storage,
            "sessionStorage": storage,
            "Math": _Thing("Math"),
            "String": _Thing("String"),
            **_INNER,
        }  # fmt: skip
        self._document.values["defaultView"] = self._window
        self._evaluator = Evaluator(self, self._names)

    @property
    def needs_page(self) -> bool:
        return self._lacks_page and self._is_open

    def run(self, code: str) -> None:
        """Walk a script."""
        self._evaluator.run(code)

    def loaded(self) -> None:
        """Walk what waits until the page is loaded."""
        for function, certain in self._at_load:
            self._evaluator.is_certain = certain
            self._evaluator.begin(function, [UNKNOWN])

    # -- what a script reads

    def get(self, owner: Any, name: str) -> Any:  # noqa: PLR0911
        """Return a property, see `Host`."""
        if not isinstance(name, str):
            return UNKNOWN
        if owner is self._location:
            return url_part(self._url, name)
        if isinstance(owner, _Thing):
            if name in owner.values:
                return owner.values[name]
            return self._collection(name) if owner is self._document else UNKNOWN
        if isinstance(owner, str):
            return url_part(owner, name) if "//" in owner else UNKNOWN
        if isinstance(owner, list):
            return next((one for one in owner if _is_called(one, name)), UNKNOWN)
        return _of_element(owner, name) if isinstance(owner, etree.ElementBase) else UNKNOWN

    def _collection(self, name: str) -> Any:
        if name in ("forms", "links", "anchors"):
            return self._all(".//form" if name == "forms" else ".//a[@href]|.//area[@href]")
        return self.get(self._all(".//form"), name)

    # -- what a script changes

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Take an assignment, see `Host`."""
        if owner is None or owner is self._window or owner is self._document:
            if name == "location":
                self._move(value)
            elif name in ("onload", "onpageshow", "onreadystatechange"):
                self._wait(value)
            elif owner is self._window and isinstance(name, str):
                self._names[name] = value
        elif owner is self._location:
            self._set_part(name, value)
        elif isinstance(owner, _Thing) and name == "onload":
            self._wait(value)
        elif isinstance(owner, etree.ElementBase):
            _set_attribute(owner, name, value)

    def _set_part(self, name: str, value: Any) -> None:
        text, parts = text_of(value), urlsplit(self._url)._replace(fragment="")
        if not isinstance(text, str):
            return
        match name:
            case "href":
                self._move(text)
            case "pathname":
                self._move(text if text.startswith("/") else f"/{text}")
            case "search":
                self._move(f"{parts.path}?{text.removeprefix('?')}")
            case "protocol":
                self._move(parts._replace(scheme=text.rstrip(":/")).geturl())
            case "host" | "hostname":
                self._move(parts._replace(netloc=text).geturl())

    def _move(self, href: Any) -> None:
        text = text_of(href)
        self._is_open |= text is UNKNOWN or not self._evaluator.is_certain
        if not isinstance(text, str) or not text.strip():
            return
        if text.lstrip()[:11].lower() == "javascript:":
            self._evaluator.call(text.lstrip()[11:])
        else:
            self.moves.append((text, self._evaluator.is_certain))

    def _wait(self, function: Any) -> None:
        if isinstance(function, Function):
            self._at_load.append((function, self._evaluator.is_certain))

    # -- what a script calls

    def call(self, owner: Any, name: str, arguments: Sequence[Any]) -> Any:
        """Take a call, see `Host`."""
        first = arguments[0] if arguments else UNKNOWN
        if name in ("addEventListener", "attachEvent", "on", "one"):
            if isinstance(first, str) and first.removeprefix("on") in _LOADS:
                self._wait(arguments[-1])
            return owner
        if isinstance(owner, _Thing):
            return self._call_thing(owner, name, arguments)
        if owner is None:
            return self._call_global(name, arguments)
        elements = owner if isinstance(owner, list) else [owner]
        if all(isinstance(one, etree.ElementBase) for one in elements):
            return self._call_elements(elements, name, arguments)
        return self._call_unknown(owner, name, arguments)

    def _call_unknown(self, owner: Any, name: str, arguments: Sequence[Any]) -> Any:
        if name in _CALLS_BACK_LATER and arguments:
            return self._evaluator.call(arguments[0], [UNKNOWN])
        if name in ("forEach", "each", "map") and arguments:
            items = owner[: _SIZES["width"]] if isinstance(owner, list) else [UNKNOWN]
            for item in items:
                self._evaluator.call(arguments[0], [item])
        if name in _PLACES:
            self._place(arguments)
        self._is_open |= name in _CLICKS
        return UNKNOWN

    def _place(self, elements: Sequence[Any]) -> None:
        for one in elements:
            is_meta = isinstance(one, etree.ElementBase) and one.tag == "meta"
            if is_meta and one.get("http-equiv", "").lower() == "refresh":
                self.refreshes.append(one.get("content", ""))

    def _call_global(self, name: str, arguments: Sequence[Any]) -> Any:
        first = arguments[0] if arguments else UNKNOWN
        if name in _TIMERS:
            late = len(arguments) > 1 and isinstance(arguments[1], int | float)
            before = self._evaluator.is_certain
            if late and arguments[1] > _AT_ONCE:
                self._evaluator.is_certain = False
            self._evaluator.call(first)
            self._evaluator.is_certain = before
        elif name in _CALLS_BACK or (name in ("$", "jQuery") and isinstance(first, Function)):
            self._evaluator.call(first, [UNKNOWN])
        elif name == "eval" and isinstance(first, str):
            self._evaluator.call(first)
        elif name in ("attr", "prop") and first == "location" and len(arguments) > 1:  # $(window)
            self._move(arguments[1])
        elif name in ("open", "navigate"):
            self._open(arguments, here=name == "navigate")
        elif name in ("$", "jQuery"):
            return self._selected(first) if isinstance(first, str) else first
        return UNKNOWN

    def _open(self, arguments: Sequence[Any], *, here: bool) -> None:
        """Open a page; one in another window is no move, and browsers refuse it."""
        before = self._evaluator.is_certain
        target = arguments[1] if len(arguments) > 1 else ""
        self._evaluator.is_certain = before and (here or target in _HERE)
        self._move(arguments[0] if arguments else "")
        self._evaluator.is_certain = before

    def _call_thing(self, owner: _Thing, name: str, arguments: Sequence[Any]) -> Any:  # noqa: PLR0911
        first = arguments[0] if arguments else UNKNOWN
        match owner.name, name:
            case "location", "replace" | "assign":
                self._move(first)
            case "location", "attr" | "prop" if len(arguments) > 1:
                self._set_part(str(first), arguments[1])
            case "location", "toString":
                return self._url
            case ("location", "reload") | ("history", "go") if self._named:
                self._move(self._named)
            case "history", "pushState" | "replaceState" if len(arguments) > 2:
                named = text_of(arguments[2])
                self._named = named if isinstance(named, str) else ""
            case "storage", "getItem":
                return None
            case "Math", "random":
                return 0.5
            case "Math", "floor" | "ceil" | "round" if isinstance(first, int | float):
                return ROUNDING[name](first)
            case "String", "fromCharCode":
                codes = [one for one in arguments if isinstance(one, int) and 0 <= one < 0x110000]
                return "".join(map(chr, codes)) if len(codes) == len(arguments) else UNKNOWN
            case "document", _:
                return self._call_document(name, first)
            case _:
                return self._call_unknown(owner, name, arguments)
        return UNKNOWN

    def _call_document(self, name: str, first: Any) -> Any:
        if name in _CALLS_BACK_LATER:
            return self._evaluator.call(first, [UNKNOWN])
        if not isinstance(first, str):
            return UNKNOWN
        if name in ("write", "writeln"):
            with suppress(etree.ParserError, ValueError):
                self._place([*html.fragment_fromstring(first, create_parent=True).iter("meta")])
        elif name == "createElement":
            with suppress(ValueError):
                return html.HtmlElement() if not first.isalnum() else html.Element(first.lower())
        elif name in _LOOK_UP:
            path, single = _LOOK_UP[name]
            return _first(self._all(path, first)) if single else self._all(path, first)
        elif name in ("querySelector", "querySelectorAll"):
            found = self._selected(first)
            return found if name.endswith("All") else _first(found)
        return UNKNOWN

    def _call_elements(self, elements: list[Any], name: str, arguments: Sequence[Any]) -> Any:  # noqa: PLR0911
        element = elements[0] if elements else None
        first = arguments[0] if arguments else UNKNOWN
        if element is None:
            return UNKNOWN
        if name in ("trigger", "triggerHandler") and isinstance(first, str):
            name = first
        match name:
            case "click":
                self._click(element)
            case "submit" | "requestSubmit":
                self._submit(element)
            case "attr" | "prop" | "getAttribute" if len(arguments) == 1 and isinstance(first, str):
                return element.get(first)
            case "attr" | "prop" | "setAttribute" if len(arguments) == 2 and isinstance(first, str):
                _set_attribute(element, first, arguments[1])
            case "data" if isinstance(first, str):
                return element.get(f"data-{first}")
            case "val" | "text" | "html" if not arguments:
                return _of_element(element, "value" if name == "val" else "text")
            case "get" | "eq" | "item" if isinstance(first, int):
                return elements[first] if -1 <= first < len(elements) else UNKNOWN
            case "first":
                return element
            case _:
                return self._call_unknown(elements, name, arguments)
        return UNKNOWN

    def _click(self, element: Any) -> None:
        if code := element.get("onclick"):
            self._evaluator.call(code)
        if element.tag in ("a", "area") and (href := element.get("href")):
            # Another window is opened for nobody who did not click; what comes there is a link.
            before = self._evaluator.is_certain
            self._evaluator.is_certain = before and element.get("target", "") != "_blank"
            self._move(href)
            self._evaluator.is_certain = before
        elif element.tag in ("button", "input") and element.get("type", "submit") in (
            "submit", "image",
        ):  # fmt: skip
            form = next(element.iterancestors("form"), None)
            if form is not None:
                self._submit(form)

    def _submit(self, form: Any) -> None:
        """Send a form whose answer is an address: none that is posted."""
        if form.tag != "form" or form.get("method", "get").strip().lower() != "get":
            return
        action = joined_url(self._url, form.get("action", "")).partition("#")[0]
        values = [(name, value) for name, value in form.form_values() if isinstance(value, str)]
        query = f"?{urlencode(values)}" if values else ""
        self._move(action.partition("?")[0] + query if values else action)

    # -- the page

    def _all(self, path: str, name: str = "") -> Any:
        """Return the elements at a path, `UNKNOWN` where none are shown."""
        return self._found(lambda root: root.xpath(path, name=name))

    def _selected(self, selector: str) -> Any:
        if len(selector) > _LONGEST_SELECTOR:
            return UNKNOWN
        return self._found(lambda root: root.cssselect(selector))

    def _found(self, find: Callable[[Any], Iterable[Any]]) -> Any:
        if self._utf8 is None:
            self._lacks_page = True
            return UNKNOWN
        try:
            if self._tree is None:
                parser = html.HTMLParser(encoding="utf-8")
                self._tree = html.document_fromstring(self._utf8[:_LARGEST], parser)
            return list(find(self._tree))
        except (SelectorError, etree.ParserError, etree.XPathError, ValueError):
            return []


# How elements are found: by which path, and whether one is meant.
_LOOK_UP: dict[str, tuple[str, bool]] = {
    "getElementById": (".//*[@id=$name]", True),
    "getElementsByName": (".//*[@name=$name]", False),
    "getElementsByTagName": (".//*[name()=$name]", False),
    "getElementsByClassName": (
        ".//*[contains(concat(' ',@class,' '),concat(' ',$name,' '))]",
        False,
    ),
}


def _first(found: Any) -> Any:
    return found if found is UNKNOWN else found[0] if found else None


def _is_called(element: Any, name: str) -> bool:
    return isinstance(element, etree.ElementBase) and name in (
        element.get("name"),
        element.get("id"),
    )


def _of_element(element: Any, name: str) -> Any:
    if name == "dataset":
        return {
            _camel(key.removeprefix("data-")): value
            for key, value in element.attrib.items()
            if key.startswith("data-")
        }
    if name in _TEXTS:
        return "".join(element.itertext()).strip()
    value = element.get(_ATTRIBUTES.get(name, name))
    if value is None and element.tag == "form":
        return next((one for one in element.iter() if _is_called(one, name)), UNKNOWN)
    return UNKNOWN if value is None else value


def _camel(name: str) -> str:
    first, *others = name.split("-")
    return first + "".join(one.capitalize() for one in others)


def _set_attribute(element: Any, name: str, value: Any) -> None:
    text = text_of(value)
    if isinstance(text, str) and isinstance(name, str):
        with suppress(ValueError, TypeError):
            element.set(_ATTRIBUTES.get(name, name), text)
