"""Guards in front of the application: who may ask, how much, and what browsers may do.

Whoever listens beyond loopback needs a token. On loopback any page in the reader's browser can send
requests here, so their ``Host`` must be this machine (against DNS rebinding), and what browsers
mark as coming from other sites is refused, but for links that are followed to a page of ours.

What changes something is posted by a form of ours: from the same origin, and with a value that only
pages of ours know (`Context.form_key`), which is looked at where the form is read.

Archived pages have no origin. What they embed carries no cookie and is marked as foreign; it is let
in below a path that cannot be guessed, the *key*, which their links are rewritten to. An archived
page may read its own address, and has nowhere to send it.
"""

import hmac
import re
from ipaddress import ip_address
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mmcrawl.browse.context import Context
from mmcrawl.browse.replay.addresses import ALONE, PLACE, REPLAY, Place, locked

_HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_KEY_SIGN = "~"
_ESCAPED = 4  # bytes of a request for each character of an address in it
_FORM = "application/x-www-form-urlencoded"
_OWN_SITES = (None, "same-origin", "none")


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches what listens on a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def guarded(app: ASGIApp, context: Context) -> ASGIApp:
    """Return the application with a guard before it.

    Raises:
        ValueError: it would listen beyond loopback without a token.
    """
    options = context.options
    if not options.token and not is_loopback(options.host):
        raise ValueError(
            f"{options.host} is reached from other machines; give a token that readers must know,"
            " or listen on 127.0.0.1"
        )
    return _Guard(app, context)


class _Guard:
    """Refuses what may not be asked, and marks all that is answered."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app, self._limits, self._token = app, context.limits, context.options.token
        self._key = _KEY_SIGN + context.derived("replay")[:32]
        self._pass = context.derived("pass")
        self._cookie = f"mmcrawl_{context.options.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
        scope, keyed = self._without_key(scope)

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                _mark(MutableHeaders(scope=message), scope, origin)
            await send(message)

        refusal = self._refusal(scope, headers, keyed)
        await (refusal or self._app)(scope, receive, marked)

    def _without_key(self, scope: Scope) -> tuple[Scope, bool]:
        """Return the request without the key in its path, and whether it had the right one."""
        prefix = f"{REPLAY}{self._key}/"
        keyed = _same(scope["path"][: len(prefix)], prefix)
        scope = dict(scope)
        if keyed:
            scope["path"] = REPLAY + scope["path"][len(prefix) :]
            raw = scope.get("raw_path") or b""
            if raw.startswith(prefix.encode()):
                scope["raw_path"] = REPLAY.encode() + raw[len(prefix) :]
            else:
                scope.pop("raw_path", None)
        scope[PLACE] = Place(prefix, keyed)
        return scope, keyed

    # -- what is refused ----------------------------------------------------------------------

    def _refusal(self, scope: Scope, headers: Headers, keyed: bool) -> Response | None:
        posted = scope["method"] == "POST"
        if keyed:
            return self._refusal_of_form(scope, headers, keyed=True)
        return (
            self._refusal_of_form(scope, headers, keyed=False)
            or _without_old_key(scope)
            or self._refusal_of_token(scope, headers)
            or (self._refusal_of_post(scope, headers) if posted else _refusal_of_site(headers))
        )

    def _refusal_of_form(self, scope: Scope, headers: Headers, *, keyed: bool) -> Response | None:
        """Refuse what nobody may ask."""
        methods = ("GET", "HEAD") if keyed else ("GET", "HEAD", "POST")
        if scope["method"] not in methods:
            allowed = ", ".join(methods)
            return PlainTextResponse(f"Only {allowed} are answered.\n", 405, {"Allow": allowed})
        arguments = len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"])
        if arguments > _ESCAPED * self._limits.longest_url:
            return PlainTextResponse("This address is too long.\n", 414)
        hosts = headers.getlist("host")
        named = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        # Where there is a token, any name will do.
        if named is None or not (self._token or is_loopback(named[1])):
            return PlainTextResponse(
                "This name is not this machine's; ask for 127.0.0.1 or localhost.\n", 400
            )
        if "service-worker" in headers:
            return PlainTextResponse("Nothing here is a service worker.\n", 403)
        return None

    def _refusal_of_post(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse what no form of ours sends."""
        own = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
        is_own = headers.get("sec-fetch-site") in (None, "same-origin")
        if not is_own or headers.get("origin", own) != own:
            return PlainTextResponse("Only pages of this server may change anything.\n", 403)
        if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            return PlainTextResponse(f"Send a form as {_FORM}.\n", 415)
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal()):
            return PlainTextResponse("Say how long the form is.\n", 411)
        if len(length) > 9 or int(length) > self._limits.largest_form:
            return PlainTextResponse("This form is too long.\n", 413)
        return None

    def _refusal_of_token(self, scope: Scope, headers: Headers) -> Response | None:
        cookies = HTTPConnection(scope).cookies
        if not self._token or _same(cookies.get(self._cookie, ""), self._pass):
            return None
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(bearer.strip(), self._token):
            return None
        query = QueryParams(scope["query_string"])
        given = query.get("token", "")
        if scope["path"].startswith(REPLAY) or not _same(given, self._token):
            return PlainTextResponse(
                "A token is needed: open the address that was shown when this was started.\n",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        # The way to the same page without the token, which is no part of its address.
        path = "/" + scope["path"].lstrip("/\\")
        rest = urlencode([pair for pair in query.multi_items() if pair[0] != "token"])
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(
            self._cookie,
            self._pass,
            httponly=True,
            samesite="strict",
            secure=scope.get("scheme") == "https",
        )
        return answer


def _without_old_key(scope: Scope) -> Response | None:
    """Lead to the address without a key, if it has one of an earlier run."""
    if not scope["path"].startswith(REPLAY + _KEY_SIGN):
        return None
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    rest = raw.decode("latin-1").removeprefix(REPLAY).partition("/")[2]
    query = scope["query_string"].decode("latin-1")
    return RedirectResponse(REPLAY + rest + (f"?{query}" if query else ""))


def _refusal_of_site(headers: Headers) -> Response | None:
    """Refuse what another site embeds or fetches; links that are followed are let in."""
    followed = headers.get("sec-fetch-mode") == "navigate"
    followed = followed and headers.get("sec-fetch-dest") == "document"
    if headers.get("sec-fetch-site") in _OWN_SITES or followed:
        return None
    return PlainTextResponse("Other sites may not embed or read this.\n", 403)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _mark(headers: MutableHeaders, scope: Scope, origin: str) -> None:
    """Add the headers that keep browsers from harm to an answer."""
    if scope["path"].startswith(REPLAY):
        policy = locked(keyed=scope[PLACE].keyed)
        wanted = {**ALONE, "Content-Security-Policy": policy, "Cache-Control": "no-store"}
        if "set-cookie" in headers:
            del headers["set-cookie"]
        if not headers.get("content-security-policy", "").startswith("sandbox"):
            headers["content-security-policy"] = policy
    else:
        wanted = _interface_headers(origin)
    for name, value in wanted.items():
        headers.setdefault(name, value)


def _interface_headers(origin: str) -> dict[str, str]:
    """Return what is sent with pages of ours.

    Scripts and styles come from one folder only: an archived script has our origin as its address,
    and would be let in by ``'self'``.
    """
    own = f"{origin}/static/" if _HOST.fullmatch(origin.partition("://")[2]) else "'none'"
    replayed = f"{origin}{REPLAY}" if own != "'none'" else "'none'"
    return {
        "Content-Security-Policy": (
            f"default-src 'self'; script-src {own}; style-src {own}; img-src 'self' data:;"
            f" frame-src {replayed}; object-src 'none'; worker-src 'none'; base-uri 'none';"
            " form-action 'self'; frame-ancestors 'none'"
        ),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",  # with no-referrer, forms of ours say "Origin: null"
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
