"""What is refused before anything is looked at, and what browsers are told."""

import re
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from mmcrawl.browse import Options, guarded, is_loopback, open_context
from mmcrawl.browse.replay import replay_address
from tests.browse import hostile
from tests.browse.serving import small_app
from tests.tables import each

ORIGIN = "http://127.0.0.1:8000"
TOKEN = "correct horse"
PAGE = replay_address(hostile.SITE + "plain", hostile.START)


@pytest.fixture(scope="module")
def client(hostile_archive: str) -> Iterator[TestClient]:
    with open_context(hostile_archive) as context:
        yield TestClient(small_app(context), ORIGIN, follow_redirects=False)


@pytest.fixture
def distant(hostile_archive: str) -> Iterator[TestClient]:
    """One that listens beyond loopback, and so requires a token."""
    options = Options(host="0.0.0.0", token=TOKEN)
    with open_context(hostile_archive, options=options) as context:
        yield TestClient(small_app(context), "http://library.test:8000", follow_redirects=False)


def key_of(answer: Response) -> str:
    """Return the path below which the links of an archived page lead."""
    found = re.search(r"default-src http://[^/]+/(\S+);", answer.headers["content-security-policy"])
    assert found
    return found[1]


@each("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000", "127.0.0.2"])
def test_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


@each(
    "host",
    ["evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "", "0.0.0.0", "a b", "127.0.0.1;x",
     "localhost/", "user@localhost", "localhost:port"],
)  # fmt: skip
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    """A page whose name was pointed here (DNS rebinding) sends its own name."""
    for path in ("/", PAGE, "/cdx?url=http://h.test/"):
        assert client.get(path, headers={"Host": host}).status_code == 400


@each("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_pages_answer_get_and_head_only(client: TestClient, method: str) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/", PAGE, "/timegate/http://h.test/"):
        answer = client.request(method, path, headers=form)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) >= {"GET", "HEAD"}


def test_a_service_worker_is_refused_wherever_it_asks(client: TestClient) -> None:
    key = key_of(client.get(PAGE))
    for path in ("/", PAGE, f"/{key}20240517083000/{hostile.SITE}sw.js"):
        assert client.get(path, headers={"Service-Worker": "script"}).status_code == 403


EMBEDDED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
FRAMED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
SAME_SITE = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
FOLLOWED = {**FRAMED, "Sec-Fetch-Dest": "document"}


@each("headers", [EMBEDDED, FRAMED, SAME_SITE])
def test_other_sites_can_embed_nothing_but_links_may_be_followed(client, headers):
    for path in ("/", PAGE, "/cdx?url=http://h.test/"):
        assert client.get(path, headers=headers).status_code == 403
    assert client.get("/", headers=FOLLOWED).status_code == 200


def test_archived_pages_without_origin_find_what_they_embed_by_the_key(client: TestClient) -> None:
    keyed = f"/{key_of(client.get(PAGE))}{PAGE.removeprefix('/replay/')}"
    for headers in (EMBEDDED, FRAMED):
        answer = client.get(keyed, headers=headers)
        assert answer.status_code == 200
        assert "frame-ancestors" not in answer.headers["content-security-policy"]


def test_the_key_opens_nothing_but_archived_pages(client: TestClient) -> None:
    key = key_of(client.get(PAGE))
    for path in (f"/{key}../../", f"/{key}..%2f..%2f", f"/{key}", f"/{key}cdx?url=http://h.test/"):
        answer = client.get(path, headers=EMBEDDED, follow_redirects=True)
        assert answer.status_code in (400, 403, 404)


def test_a_key_of_an_earlier_run_leads_to_the_address_without_one(client: TestClient) -> None:
    old = f"/replay/~{'0' * 32}/{PAGE.removeprefix('/replay/')}?a=%20b"
    answer = client.get(old)
    assert answer.status_code == 307
    assert answer.headers["location"] == f"{PAGE}?a=%20b"
    assert client.get(PAGE, headers=EMBEDDED).status_code == 403


@each("host", ["0.0.0.0", "192.168.1.5", "library.test", "::", ""])
def test_whoever_listens_beyond_loopback_needs_a_token(hostile_archive: str, host: str) -> None:
    assert not is_loopback(host)
    with (
        open_context(hostile_archive, options=Options(host=host)) as context,
        pytest.raises(ValueError, match="token"),
    ):
        small_app(context)


@each(
    "headers",
    [{}, {"Cookie": "mmcrawl_8000=guess"}, {"Cookie": f"mmcrawl_8000={TOKEN}"},
     {"Authorization": "Bearer guess"}, {"Authorization": "Bearer "}, {"Cookie": "\x7f=;;=,"}],
)  # fmt: skip
def test_without_the_token_there_is_nothing(distant, headers):
    for path in "/", PAGE, "/cdx?url=http://h.test/", "/timegate/http://h.test/", "/oai", "/static":
        assert distant.get(path, headers=headers).status_code == 401


@each("token", ["", "guess", TOKEN + "x", TOKEN[:-1], "\xff"])
def test_a_wrong_token_sets_no_cookie(distant: TestClient, token: str) -> None:
    answer = distant.get("/", params={"token": token})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_token_is_kept_in_a_cookie_and_leaves_the_address(distant: TestClient) -> None:
    answer = distant.get("/", params={"a": "1&2", "token": TOKEN})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?a=1%262"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert distant.get("/").status_code == 200  # the client keeps the cookie
    assert distant.get(PAGE).status_code == 200


def test_the_way_on_is_never_to_another_host(distant: TestClient) -> None:
    for path in ("//evil.test/", "/\\evil.test/"):
        distant.cookies.clear()
        answer = distant.get(f"http://library.test:8000{path}?token={TOKEN.replace(' ', '+')}")
        assert answer.status_code == 303
        assert not answer.headers["location"].startswith(("//", "/\\"))


def test_what_archived_pages_embed_needs_no_cookie_but_the_key(distant: TestClient) -> None:
    answer = distant.get(PAGE, headers={"Authorization": f"Bearer {TOKEN}"})
    keyed = f"/{key_of(answer)}{PAGE.removeprefix('/replay/')}"
    assert distant.get(keyed).status_code == 200
    assert TOKEN not in answer.text


def test_pages_of_ours_run_no_script_but_ours_and_are_framed_by_nobody(client: TestClient) -> None:
    headers = client.get("/").headers
    policy = dict(
        rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert policy["script-src"] == f"{ORIGIN}/static/"  # not 'self', which archived scripts are
    assert policy["frame-src"] == f"{ORIGIN}/replay/"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"  # no-referrer: forms would have no origin
    assert headers["cache-control"] == "no-store"


def test_nothing_leaves_the_replay_path_without_its_sandbox(hostile_archive: str) -> None:
    async def careless(_: Request) -> Response:
        headers = {"Content-Security-Policy": "default-src *", "Set-Cookie": "a=b"}
        return PlainTextResponse("x", headers=headers)

    async def failing(_: Request) -> Response:
        raise RuntimeError("fault")

    with open_context(hostile_archive) as context:
        for endpoint in (careless, failing):
            app = guarded(Starlette(routes=[Route("/replay/x", endpoint)]), context)
            client = TestClient(app, ORIGIN, raise_server_exceptions=False)
            headers = client.get("/replay/x").headers
            assert headers["content-security-policy"].startswith("sandbox; default-src 'none'")
            assert "set-cookie" not in headers
