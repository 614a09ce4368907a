"""While the search index is being made, the reader is told how far it is and sees what there is."""

from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from starlette.testclient import TestClient

from mmcrawl.archive import Search
from mmcrawl.browse import open_context
from tests.browse.catalogue import client_of, fill


@pytest.fixture
def met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, dict[str, str]]]:
    """What a reader meets after each version that is read, by their number; then at the end, -1."""
    met: dict[int, dict[str, str]] = {}
    with open_context(fill(tmp_path)) as context:
        client, update = client_of(context), Search.update

        def slowly(self: Search, **named: object) -> object:
            progress = named.pop("progress")

            def tell(done: int, of: int) -> None:
                progress(done, of)  # type: ignore[operator]
                met[done] = shown(client)

            return update(self, progress=tell)

        monkeypatch.setattr(Search, "update", slowly)
        context.surveyor.survey(context.archive.counts())
        met[-1] = shown(client)
        yield met


def shown(client: TestClient) -> dict[str, str]:
    pages = {
        "en": "/search?q=lever&lang=en",
        "zh": "/search?q=lever&lang=zh",
        "json": "/search.json?q=lever",
    }
    return {name: client.get(address).text for name, address in pages.items()}


def test_it_says_how_far_the_index_is(met: dict[int, dict[str, str]]) -> None:
    assert sorted(met) == [-1, 0, 1, 2, 3, 4, 5, 6]
    assert "Indexing: 2 of 6 versions" in met[2]["en"]
    assert "6 个版本中已完成 2 个" in met[2]["zh"]
    assert '"indexing":{"done":2,"of":6}' in met[2]["json"]


def test_it_does_not_say_that_nothing_is_there_before_all_was_read(met):
    assert "Nothing found yet" in met[0]["en"]
    assert "目前尚未找到" in met[0]["zh"]
    assert "0 pages found" not in met[0]["en"]
    assert "1 page found" in met[-1]["en"]
    assert "Indexing" not in met[-1]["en"]
    assert '"indexing":null' in met[-1]["json"]


def test_what_indexing_takes_delays_no_later_look(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    with open_context(fill(tmp_path)) as context:
        monkeypatch.setattr(Search, "update", lambda self, **named: sleep(0.5))
        assert context.surveyor.survey(context.archive.counts()) < 0.5
