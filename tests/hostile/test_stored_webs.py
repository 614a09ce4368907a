"""Webs that are stored, which are crawled in place of the network."""

import pytest


@pytest.mark.parametrize("seeded", [False, True])
def test_a_web_named_by_a_setting_is_crawled_instead_of_the_network(seeded, desk, site):
    host = desk.folder / "web" / f"127.0.0.1:{site.port}"
    host.mkdir(parents=True)
    (host / "index.html").write_text('<title>optics</title><a href="a.mp4">film</a>')
    site.page("/", "optics", media="b.mp4")
    seeds = [f"seeds={site.url()}"] if seeded else []
    run = desk.crawl("keywords=optics", "store=crawl.db", *seeds, MMCRAWL_WEB="web")
    assert run.code == 0, run.err
    assert site.asked == []
    resources = desk.rows("crawl.db", "SELECT url FROM media_resource")
    assert resources == [(site.url("/a.mp4"),)]
