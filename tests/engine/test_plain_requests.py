"""Requests as JSON: they come back as they were, and nothing else can come out of a store."""

import json
import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from mmcrawl.engine import as_json, from_json
from mmcrawl.errors import RequestError
from mmcrawl.frontier import SCHEMA_VERSION
from tests.tables import each

plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.binary() | st.integers(), inner)
    ),
)


class Shop(Spider):
    name = "shop"
    helper = print

    def tell(self, response: Any) -> None:
        """Do nothing: only its name matters."""

    def sorry(self, failure: Any) -> None:
        """Do nothing."""

    def _hidden(self, response: Any) -> None:
        """Do nothing."""

    @classmethod
    def of_the_class(cls, response: Any) -> None:
        """Do nothing."""

    @property
    def trap(self) -> Callable[..., Any]:
        raise AssertionError("a name in a store reached a property")


@pytest.fixture
def spider() -> Shop:
    return Shop()


@given(st.dictionaries(st.text(), plain_values), plain_values)
def test_meta_and_arguments_come_back_as_they_were(meta: dict[str, Any], value: Any) -> None:
    request = Request("http://a.test/", meta=meta, cb_kwargs={"value": value})
    again = from_json(as_json(request, Shop()), Shop())
    assert repr((again.meta, again.cb_kwargs)) == repr((meta, {"value": value}))


@each(
    "request_",
    [
        Request("http://a.test/", headers={"X": ["1", b"\xff"]}, cookies={"c": "1"}, priority=3),
        Request("http://a.test/", cookies=[{"name": "n", "value": "v", "path": "/"}], flags=["f"]),
        FormRequest("http://a.test/", formdata={"a": "1"}, encoding="gbk", dont_filter=True),
        JsonRequest("http://a.test/", data={"a": [1]}, dumps_kwargs={"indent": 1}),
    ],
)
def test_a_request_comes_back_with_its_class_and_all_it_carries(request_, spider):
    request_ = request_.replace(callback=spider.tell, errback=spider.sorry)
    again = from_json(as_json(request_, spider), spider)
    assert type(again) is type(request_)
    for name in request_.attributes:
        assert getattr(again, name) == getattr(request_, name)


@each(
    "name",
    [
        *("_hidden", "trap", "helper", "of_the_class", "__init__", "settings", "name", "crawler"),
        *("from_crawler", "update_settings", "close", "log", "logger", "start", "nothing"),
        *(5, ["tell"]),
    ],
)
@each("key", ["callback", "errback"])
def test_a_name_in_a_store_leads_to_nothing_but_a_public_method_of_the_spider(name, key, spider):
    stored = json.loads(as_json(Request("http://a.test/", spider.tell), spider))
    stored[1][key] = name
    with pytest.raises(RequestError):
        from_json(json.dumps(stored).encode(), spider)
    stored[1][key] = "sorry"
    assert getattr(from_json(json.dumps(stored).encode(), spider), key) == spider.sorry


def test_no_other_class_can_be_named(spider: Shop) -> None:
    stored = json.loads(as_json(Request("http://a.test/"), spider))
    for name in ("subprocess.Popen", "scrapy.http.request.Request", "Spider", None, ["Request"]):
        with pytest.raises(RequestError):
            from_json(json.dumps([name, stored[1]]).encode(), spider)


def test_what_is_no_request_is_told_in_one_error(spider: Shop) -> None:
    good = as_json(Request("http://a.test/", meta={"a": (1, b"b")}), spider)
    name, values = json.loads(good)
    broken = [b"", b"\xff", b"[]", b"null", b"[" * 100_000, good[:-1], json.dumps([name]).encode()]
    for key in values:
        without = {other: value for other, value in values.items() if other != key}
        broken += [json.dumps([name, without]).encode()]
        broken += [
            json.dumps([name, {**values, key: wrong}]).encode()
            for wrong in (5.5, {"tag": 1}, {"bytes": "?"}, {"dict": 3}, {"a": 1, "b": 2})
        ]
    for data in broken:
        with pytest.raises(RequestError, match="it is no request"):
            from_json(data, spider)


class Bomb:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@each("version", ["2", str(SCHEMA_VERSION)])
def test_a_pickle_in_a_store_is_never_loaded_nor_another_address_asked(
    tools: Any, tmp_path: Path, version: str
) -> None:
    server = tools.serve()
    server.pages = {"/": tools.links("/a", "/b", "/c")} | dict.fromkeys(["/a", "/b", "/c"], "<p>")
    store = tmp_path / "crawl.db"
    crawl = {"seeds": server.url(), "store": str(store)}
    tools.crawl(crawl | {"max_pages": "1"})
    with closing(sqlite3.connect(store)) as db, db:
        bomb = pickle.dumps(Bomb(tmp_path / "went off"))
        assert db.execute("UPDATE link SET request = ? WHERE path = '/a'", (bomb,)).rowcount == 1
        other = as_json(Request(server.url("/d")), Shop())
        db.execute("UPDATE link SET request = ? WHERE path = '/c'", (other,))
        db.execute(f"PRAGMA user_version = {version}")
    (outcome,) = tools.crawl(crawl)
    assert not (tmp_path / "went off").exists()
    assert "Traceback" not in outcome.log
    if version == str(SCHEMA_VERSION):
        status, reason = outcome.links[server.url("/a")]
        assert (status, reason[:32]) == ("E", "stored request: it is no request")
        assert outcome.links[server.url("/b")] == ("C", "")
        assert outcome.links[server.url("/c")][0] == "E"
        assert server.asked == ["/", "/b"]
    else:
        assert f"{store} was written by an older version of mmcrawl (schema 2" in outcome.log
        assert server.asked == ["/"]


def test_a_store_cannot_name_files_of_this_machine(tools: Any, tmp_path: Path) -> None:
    server = tools.serve()
    server.pages = {"/": tools.links("/secret.html")}
    (tmp_path / "secret.html").write_text("<title>secret</title>")
    store = tmp_path / "crawl.db"
    crawl = {"seeds": server.url(), "store": str(store)}
    tools.crawl(crawl | {"max_pages": "1"})
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE host SET origin = 'file://'")
        db.execute("UPDATE link SET path = ? WHERE status = 'W'", (f"{tmp_path}/secret.html",))
    tools.crawl(crawl)
    with closing(sqlite3.connect(store)) as db:
        assert db.execute(
            "SELECT status, error FROM link WHERE path LIKE '%secret%'"
        ).fetchall() == [("E", "stored request: only http and https addresses are crawled")]
        assert db.execute("SELECT count(*) FROM page WHERE title = 'secret'").fetchone() == (0,)
