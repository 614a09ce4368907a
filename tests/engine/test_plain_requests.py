"""Requests as JSON: they come back as they were, and nothing else can come out of a store."""

import json
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from mmcrawl.engine import as_json, from_json
from mmcrawl.errors import RequestError
from tests.tables import each


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


@each(
    "value",
    [
        [None, True, -(2**70), 2.5, float("-inf"), "光\ud800\0", b"\xff", (), (1, ("a", []))],
        {"": {}, 1: "x", b"b": {"1": 1}},
        *({name: {"a": 1}} for name in ("tag", "bytes", "dict", "tuple")),
    ],
)
def test_meta_and_arguments_come_back_as_they_were(value: Any, spider: Shop) -> None:
    request = Request("http://a.test/", meta={"own": value}, cb_kwargs={"value": value})
    again = from_json(as_json(request, spider), spider)
    assert repr((again.meta, again.cb_kwargs)) == repr(({"own": value}, {"value": value}))


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


def test_what_a_stranger_writes_into_a_store_is_neither_loaded_nor_asked_for(
    tools: Any, tmp_path: Path
) -> None:
    server = tools.serve()
    server.pages = {"/": tools.links("/a", "/b", "/c")} | dict.fromkeys(["/a", "/b", "/c"], "<p>")
    store, other = tmp_path / "crawl.db", tmp_path / "other.db"
    crawl = {"seeds": server.url(), "store": str(store), "archive": "none"}
    tools.crawl(crawl | {"max_pages": "1"})
    shutil.copy(store, other)
    with closing(sqlite3.connect(store)) as db, db:
        bomb = pickle.dumps(Bomb(tmp_path / "went off"))
        assert db.execute("UPDATE link SET request = ? WHERE path = '/a'", (bomb,)).rowcount == 1
        request = as_json(Request(server.url("/d")), Shop())
        db.execute("UPDATE link SET request = ? WHERE path = '/c'", (request,))
    (tmp_path / "secret.html").write_text("<title>secret</title>")
    with closing(sqlite3.connect(other)) as db, db:  # files of this machine
        db.execute("UPDATE host SET origin = 'file://'")
        db.execute("UPDATE link SET path = ? WHERE status = 'W'", (f"{tmp_path}/secret.html",))
    outcome, of_files = tools.crawl(crawl, crawl | {"store": str(other)})
    assert not (tmp_path / "went off").exists()
    assert "Traceback" not in outcome.log
    status, reason = outcome.links[server.url("/a")]
    assert (status, reason[:32]) == ("E", "stored request: it is no request")
    assert outcome.links[server.url("/b")] == ("C", "")
    assert outcome.links[server.url("/c")][0] == "E"
    assert server.asked == ["/", "/b"]
    assert of_files.links[f"file://{tmp_path}/secret.html"] == (
        "E",
        "stored request: only http and https addresses are crawled",
    )
