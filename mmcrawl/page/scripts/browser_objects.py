"""The browser objects by which scripts move to another page: window, location, document, elements.

They describe an ordinary desktop browser on its first visit: no cookies, and not in a frame as far
as a script can tell.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from lxml import html

from mmcrawl.page.html.elements import elements_of
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.scripts.javascript import Evaluator
from mmcrawl.page.scripts.javascript_values import (
    FUNCTIONS,
    METHODS,
    OF_OBJECTS,
    UNKNOWN,
    Either,
    Function,
    text_of,
    url_parts,
)
from mmcrawl.page.urls import joined_url

_AGENT = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36"
)
_WINDOWS = ("window", "self", "top", "parent", "globalThis", "frames")
_AT_ONCE = 60_000
"""Milliseconds that a timer may wait, as in `moves`."""
_LARGEST = 1 << 18  # bytes of a page whose elements scripts are shown
_LOADS = frozenset({"load", "DOMContentLoaded", "pageshow", "readystatechange", "ready"})
_CALL_BACK = ("then", "finally", "done", "always", "ready", "forEach", "each", "map", "Promise")
_SOON = ("requestAnimationFrame", "requestIdleCallback", "queueMicrotask")
_TICKS = 10  # of what is done again and again: a countdown
_HERE = frozenset({"_self", "_top", "_parent"})
_CLASS = ".//*[contains(concat(' ',@class,' '),concat(' ',$name,' '))]"
_PATHS = {  # how elements are found, and whether all are meant
    "getElementById": (".//*[@id=$name]", False),
    "getElementsByName": (".//*[@name=$name]", True),
    "getElementsByTagName": (".//*[name()=$name]", True),
    "getElementsByClassName": (_CLASS, True),
}
_ATTRIBUTES = {"httpEquiv": "http-equiv"}
_TEXTS = ("textContent", "innerHTML", "innerText", "text")
_COLLECTIONS = {"forms": ".//form", "links": ".//a[@href]|.//area[@href]"}


class _Thing(dict[str, Any]):
    """An object of the browser: its properties and methods, and handlers of assignments."""

    def __init__(
        self, values: dict[str, Any], take: Callable[[str, Any], object], node: Any = None
    ) -> None:
        super().__init__(values)
        self.node, self._take = node, take

    def __setitem__(self, name: str, value: Any) -> None:
        self._take(name, value)
        if self.node is not None and isinstance(value, str):
            with suppress(ValueError):  # no attribute is called that
                self.node.set(_ATTRIBUTES.get(name, name), value)
        if name != "location":
            super().__setitem__(name, value)


class PageBrowser:
    """Shows a page to scripts.

    Attributes:
        moves: Where they have led, and whether for certain.
        refreshes: Contents of the refreshes that they have written into the page.
    """

    def __init__(self, tree: PageTree, url: str) -> None:
        self.moves: list[tuple[str, bool]] = []
        self.refreshes: list[str] = []
        self._tree, self._url = tree, url
        self._elements: Any = None
        self._named = ""  # what a script says the page's address is
        self._at_load: list[tuple[Any, bool]] = []
        again = dict.fromkeys(("reload", "go"), lambda *_: self._move(self._named))
        moves = {"replace": self._move, "assign": self._move, "toString": lambda: url}
        location = _Thing(url_parts(url) | again | moves, self._set_location)
        self._document = self._thing(
            dict.fromkeys(("URL", "documentURI", "baseURI"), url)
            | {"cookie": "", "referrer": "", "domain": location["hostname"], "location": location}
            | {name: partial(self._all, *found) for name, found in _PATHS.items()}
            | {
                "querySelector": lambda css: _first(self._selected(css)),
            }
            | dict.fromkeys(("write", "writeln"), self._write)
            | {"querySelectorAll": self._selected, "readyState": "complete", "all": None}
            | {"body": self._thing(), "head": self._thing()}
            | {"createElement": lambda tag: self._element(html.Element(tag.lower()))}
        )
        history = dict.fromkeys(("pushState", "replaceState"), self._name) | again
        window = self._thing(
            {name: partial(_known, function) for name, function in FUNCTIONS.items()}
            | {"undefined": None, "document": self._document, "location": location}
            | {
                "navigator": self._thing({"userAgent": _AGENT, "cookieEnabled": True}),
                "history": self._thing(history),
            }
            | {"setTimeout": self._later, "setInterval": self._repeat, "open": self._open}
            | {"navigate": self._move, "eval": self._back}
            | {"String": {}, "Math": {}, "JSON": {}, "Object": {}, "URL": _url, "opener": None}
            | {"Date": lambda *_: {}, "URLSearchParams": _parameters}
            | dict.fromkeys(("Event", "MouseEvent"), lambda kind, *_: {"type": kind})
            | dict.fromkeys(("$", "jQuery"), self._jquery)
            | {name: {"getItem": lambda _: None} for name in ("localStorage", "sessionStorage")}
        )
        for name in _WINDOWS:
            dict.__setitem__(window, name, window)
        dict.__setitem__(self._document, "defaultView", window)
        # What whatever object has, known or not.
        self._common = (
            dict.fromkeys(("addEventListener", "attachEvent", "on", "one"), self._listen)
            | dict.fromkeys((*_CALL_BACK, *_SOON), self._back)
            | {"load": partial(self._listen, "load"), "appendChild": self._insert}
            | {"ready": lambda function: self._evaluator.call(function, [self._jquery])}
            | OF_OBJECTS
        )
        window |= {name: self._common[name] for name in self._common if name not in window}
        self._evaluator: Evaluator = Evaluator(window, self._member)
        self.run = self._evaluator.run

    def loaded(self) -> None:
        """Walk the code that waits until the page is loaded."""
        for function, certain in self._at_load:
            self._evaluator.is_certain = certain
            self._evaluator.begin(function)

    def _member(self, owner: Any, name: Any) -> Any:  # noqa: PLR0911, PLR0912
        """Return a member of a value; `UNKNOWN` if it is not known."""
        if isinstance(owner, str | list):
            if isinstance(name, int | float):
                return owner[int(name)] if 0 <= name < len(owner) else None
            if name == "length":
                return len(owner)
        if (method := METHODS.get(type(owner), {}).get(name)) is not None:
            return partial(_known, method, owner)
        if isinstance(owner, list) and owner and isinstance(owner[0], _Thing):
            named = (one for one in owner if name in (one.get("name"), one.get("id")))
            return next(named, None) or self._member(owner[0], name)
        if isinstance(owner, list) and name in ("forEach", "map"):
            return partial(self._each, owner)
        if isinstance(owner, Function):
            return owner.members.get(name, self._common.get(name, UNKNOWN))
        if isinstance(owner, dict):
            if name in owner:
                return owner[name]
            if name in ("attr", "prop"):
                return partial(_attribute, owner)
            if not isinstance(owner, _Thing):
                return self._common.get(name)
            if owner.node is not None and name in _TEXTS:
                return owner.node.text_content()
            if owner is self._document:
                return self._of_document(name)
        return self._common.get(name, UNKNOWN)

    # -- where it goes

    def _move(self, href: Any = "", *_: Any) -> None:
        if isinstance(href, Either):
            with self._evaluator.perhaps():
                self._move(href.one)
                self._move(href.other)
        text = text_of(href)
        if not isinstance(text, str) or not text.strip():
            return
        if text.lstrip()[:11].lower() == "javascript:":
            self._evaluator.call(text.lstrip()[11:])
        else:
            self.moves.append((text, self._evaluator.is_certain))

    def _open(self, href: Any = "", target: Any = "", *_: Any) -> None:
        # Browsers open another window only after a click, so what loads there is a link.
        with self._evaluator.perhaps(doubt=target not in _HERE):
            self._move(href)

    def _set(self, name: str, value: Any) -> None:
        if name == "location":
            self._move(value)
        elif name == "innerHTML":
            self._write(value, runs=False)
        elif name in ("onload", "onpageshow", "onreadystatechange"):
            self._listen("load", value)

    def _set_location(self, name: str, value: Any) -> None:
        if name == "href":
            self._move(value)
        text, parts = text_of(value), urlsplit(self._url)._replace(fragment="")
        if not isinstance(text, str):
            return
        match name:
            case "pathname":
                self._move(f"/{text.removeprefix('/')}")
            case "search":
                self._move(f"{parts.path}?{text.removeprefix('?')}")
            case "protocol":
                self._move(parts._replace(scheme=text.rstrip(":/")).geturl())
            case "host" | "hostname":
                self._move(parts._replace(netloc=text).geturl())

    def _name(self, state: Any, title: Any, url: Any) -> None:
        self._named = url

    # -- when

    def _listen(self, event: Any, *others: Any) -> None:
        is_load = isinstance(event, str) and event.removeprefix("on") in _LOADS
        functions = [one for one in others if isinstance(one, Function)]
        if is_load and functions:
            self._at_load.append((functions[0], self._evaluator.is_certain))

    def _back(self, function: Any = UNKNOWN, *_: Any) -> Any:
        return self._evaluator.call(function, [UNKNOWN])

    def _each(self, items: list[Any], function: Any) -> list[Any]:
        return [self._evaluator.call(function, [one, place]) for place, one in enumerate(items)]

    def _later(self, function: Any, wait: Any = 0, *given: Any) -> None:
        with self._evaluator.perhaps(doubt=isinstance(wait, int | float) and wait > _AT_ONCE):
            self._evaluator.call(function, given)

    def _repeat(self, function: Any, wait: Any = 0, *others: Any) -> None:
        before = len(self.moves)
        for _ in range(_TICKS):
            if len(self.moves) == before:
                self._later(function, wait)

    def _jquery(self, what: Any = UNKNOWN) -> Any:
        if isinstance(what, Function):
            return self._back(what)
        return self._selected(what) if isinstance(what, str) else what

    # -- the page

    def _thing(self, values: dict[str, Any] | None = None) -> _Thing:
        return _Thing(values or {}, self._set)

    def _element(self, node: Any) -> _Thing:
        made = self._thing(dict(node.attrib))
        data = {name[5:]: text for name, text in node.attrib.items() if name[:5] == "data-"}
        made.node = node
        submit = dict.fromkeys(("submit", "requestSubmit"), partial(self._submit, node))
        attribute = dict.fromkeys(("getAttribute", "setAttribute"), partial(_attribute, made))
        click = partial(self._click, made)
        clicks = {
            "click": click,
            "dispatchEvent": lambda event: event["type"] == "click" and click(),
        }
        made.update(submit | attribute | clicks | {"dataset": data})
        return made

    def _insert(self, element: Any, *_: Any) -> Any:
        """Handle an element that a script adds to the page."""
        if isinstance(element, _Thing) and element.node is not None:
            self._write(html.tostring(element.node, encoding="unicode"))
            self._evaluator.call(element.get("text", UNKNOWN))
        return element

    def _write(self, text: Any, *_: Any, runs: bool = True) -> None:
        written = text.encode("utf-8", "replace") if isinstance(text, str) else b""
        root = elements_of(PageTree(written, "utf-8"), make=html.Element)[0]
        for one in root.iter("meta", "script"):
            if one.get("http-equiv", "").lower() == "refresh":
                self.refreshes.append(one.get("content", ""))
            if runs:
                self._evaluator.call(one.text or UNKNOWN)

    def _of_document(self, name: str) -> Any:
        if name in _COLLECTIONS:
            return self._all(_COLLECTIONS[name])
        return self._all(".//form[@name=$name]", False, name) or self._common.get(name, UNKNOWN)

    def _click(self, element: _Thing, *handlers: Any) -> None:
        if handlers:  # jQuery's way to say what a click does
            return
        self._evaluator.call(element.get("onclick", UNKNOWN))
        if element.node.tag in ("a", "area"):
            self._open(element.get("href"), element.get("target", "_self"))
        elif element.get("type", "submit") in ("submit", "image"):
            self._submit(next(element.node.iterancestors("form"), None))

    def _submit(self, form: Any, *handlers: Any) -> None:
        """Send a form whose answer is an address: none that is posted."""
        is_form = form is not None and form.tag == "form" and not handlers
        if not is_form or form.get("method", "get").strip().lower() != "get":
            return
        action = joined_url(self._url, form.get("action", "")).partition("#")[0]
        values = [(name, value) for name, value in form.form_values() if isinstance(value, str)]
        self._move(action.partition("?")[0] + f"?{urlencode(values)}" if values else action)

    def _all(self, path: str, is_all: bool = True, name: str = "") -> Any:
        found = [self._element(one) for one in self._root().xpath(path, name=name)]
        return found if is_all else _first(found)

    def _selected(self, selector: str) -> Any:
        return [self._element(one) for one in self._root().cssselect(selector[:100])]

    def _root(self) -> Any:
        if self._elements is None:
            self._elements = elements_of(self._tree, make=html.Element, end=_LARGEST)[0]
            if "body" not in self._tree.tags:  # a page need not write it
                body = html.Element("body")
                body.extend(self._elements)
                self._elements.append(body)
        return self._elements


def _first(found: list[Any]) -> Any:
    return found[0] if found else None


def _known(method: Callable[..., Any], *arguments: Any) -> Any:
    return UNKNOWN if UNKNOWN in arguments else method(*arguments)


def _parameters(query: Any = "") -> dict[str, Any]:
    return {"get": dict(parse_qsl(text_of(query).removeprefix("?"))).get}


def _attribute(owner: dict[str, Any], name: str, *value: Any) -> Any:
    if value:
        owner[name] = value[0]
    return owner.get(name, UNKNOWN)


def _url(reference: Any, base: Any = "") -> Any:
    return url_parts(joined_url(text_of(base), text_of(reference)))
