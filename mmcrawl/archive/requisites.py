"""What an archived page needs to be displayed, as far as the archive holds it."""

from collections import deque
from collections.abc import Iterator

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.facts import is_page, location_of
from mmcrawl.archive.model import Capture
from mmcrawl.page.parse import page_tree
from mmcrawl.page.requisites import page_requisites, sheet_requisites
from mmcrawl.page.urls import absolute_url

_LARGEST_SHEET = 4 << 20  # bytes; of a larger one is not read what it names


def named_by(capture: Capture) -> tuple[str, ...]:
    """Return the addresses that a page, a style sheet or a redirect needs to be seen."""
    if location := location_of(capture.status, capture.headers):
        target = (absolute_url(capture.url, location) or "").partition("#")[0]
        return (target,) if target.startswith("http") else ()
    if is_page(capture):
        return page_requisites(page_tree(capture.body, capture.media_type or None), capture.url)
    if capture.media_type.lower().startswith("text/css") and len(capture.body) <= _LARGEST_SHEET:
        return sheet_requisites(capture.body, capture.url)
    return ()


def requisites_of(archive: Archive, page: Capture, seen: set[str]) -> Iterator[Capture]:
    """Yield what a page needs to be seen, each as it was nearest to the time of the page.

    Args:
        archive: Where it is looked for.
        page: As it was archived.
        seen: Addresses that are left out; those that were looked for are added.
    """
    waiting = deque(named_by(page))
    while waiting:
        url = waiting.popleft()
        found = archive.found(url) if url not in seen else []
        seen.add(url)
        if found:
            _, version = min(found, key=lambda pair: abs(pair[0].time - page.time))
            capture = archive.rebuild(version)
            yield capture
            # A page in place of a picture needs nothing here; redirects come with pages too.
            if capture.status // 100 == 3 or not is_page(capture):
                waiting += named_by(capture)
