"""While the search index is being made, the reader is told how far it is and sees what there is."""

from starlette.testclient import TestClient

from mmcrawl.archive import Search
from mmcrawl.browse import open_context
from tests.browse.catalogue import client_of, fill


def shown(client: TestClient) -> dict[str, str]:
    pages = {"html": "/search?q=lever", "json": "/search.json?q=lever"}
    return {name: client.get(address).text for name, address in pages.items()}


def test_it_says_how_far_the_index_is_and_not_that_nothing_is_there(tmp_path, monkeypatch):
    met: dict[int, dict[str, str]] = {}  # what a reader meets, by versions read; -1 at the end
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
    assert sorted(met) == [-1, 0, 1, 2, 3, 4, 5, 6]
    assert "Indexing: 2 of 6 versions" in met[2]["html"]
    assert '"indexing":{"done":2,"of":6}' in met[2]["json"]
    assert "Nothing found yet" in met[0]["html"]
    assert "0 pages found" not in met[0]["html"]
    assert "1 page found" in met[-1]["html"]
    assert "Indexing" not in met[-1]["html"]
    assert '"indexing":null' in met[-1]["json"]
