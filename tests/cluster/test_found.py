"""The media that crawls found, of both kinds of store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.cluster import open_shared_store
from mmcrawl.cluster.views import FoundMedia
from mmcrawl.frontier import Findings, MediaPageRecord, open_store
from mmcrawl.page import MediaResource


def page(name: str, score: float, visited_at: float) -> MediaPageRecord:
    film = MediaResource(f"http://a/{name}.mp4", "video", "a", "film", (f"http://b/{name}.mp4",))
    return MediaPageRecord(f"http://a/{name}", "", score, (), 200, visited_at, (film,))


PAGES = [page("old", 0.9, 1.0), page("new", 0.5, 5.0), page("newer", 0.7, 6.0)]


@pytest.mark.parametrize("is_shared", [False, True])
def test_media_since_a_time_and_the_best_pages_come_best_first(
    tmp_path: Path, *, is_shared: bool
) -> None:
    uri = f"sqlite:///{tmp_path}/crawl.db"
    if is_shared:
        with closing(open_shared_store(uri, job="job", arguments={})) as shared:
            shared.publish(PAGES)
    else:
        with open_store(uri) as store:
            findings = Findings(store, store.job("job", {}))
            for one in PAGES:
                findings.add_media_page(one)
            store.commit()
    found = FoundMedia(uri, "job")
    assert [*found.since(5.0)] == [
        (f"http://{host}/{name}.mp4", "video", f"http://a/{name}")
        for name in ("newer", "new")
        for host in "ab"
    ]
    assert found.best(1, 1) == [PAGES[2]]
    assert [one for _, one in found.pages()] == [PAGES[0], PAGES[2], PAGES[1]]
