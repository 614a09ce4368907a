"""Media that belong to a site, not to a page: the animation in a navigation bar.

A resource is *site-wide* once it stands on at least five pages of a section and on more than half
of those crawled there. Sections are the whole host and each of its first directories, since a
site's parts often have frames of their own; for animations, which frames are made of, each
directory below them too: there a list, its pages and its feed may well repeat one song. What was
found site-wide stays so: a page's own media is not seen on five pages that make up most of a
section.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from urllib.parse import urlsplit

from mmcrawl.frontier.store import Job, SqliteStore

_FEWEST_PAGES = 5
_DEEPEST = 8  # sections of a page; directories can be nested without end
_FOR_ALL_MEDIA = 2  # sections: the host and the first directory


class Sightings:
    """On how many pages of each section a resource was seen; durable with the next commit."""

    def __init__(self, store: SqliteStore, job: Job) -> None:
        self._store = store
        self._job = job.number
        rows = store.db.execute("SELECT url FROM site_wide WHERE job = ?", (self._job,))
        self._site_wide = {row[0] for row in rows}

    def __contains__(self, resource: str) -> bool:
        return resource in self._site_wide

    def add(
        self, page: str, resources: Iterable[str], animations: Collection[str] = ()
    ) -> list[str]:
        """Count a crawled page and the media on it; return resources now known as site-wide.

        Args:
            page: address of the page.
            resources: addresses of the media on it.
            animations: those of them that are animations.
        """
        found = []
        resources = list(dict.fromkeys(resources))
        with self._store.writing() as db:
            for depth, section in enumerate(islice(_sections(page), _DEEPEST)):
                if depth == _FOR_ALL_MEDIA:
                    resources = [resource for resource in resources if resource in animations]
                pages = db.execute(
                    "INSERT INTO section VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET"
                    " pages = pages + 1 RETURNING pages",
                    (self._job, section),
                ).fetchone()[0]
                for resource in resources:
                    if resource in self._site_wide:
                        continue
                    seen = db.execute(
                        "INSERT INTO sighting VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET"
                        " pages = pages + 1 RETURNING pages",
                        (self._job, section, resource),
                    ).fetchone()[0]
                    if seen >= _FEWEST_PAGES and 2 * seen > pages:
                        self._site_wide.add(resource)
                        db.execute("INSERT INTO site_wide VALUES (?, ?)", (self._job, resource))
                        found.append(resource)
        return found


def _sections(page: str) -> Iterator[str]:
    """Yield the names of the sections a page is in, the largest first.

    >>> list(_sections("http://h/a/b/c.htm"))
    ['h/', 'h/a/', 'h/a/b/']
    """
    parts = urlsplit(page)
    section = f"{parts.netloc}/"
    yield section
    for directory in parts.path.lstrip("/").split("/")[:-1]:
        section += f"{directory}/"
        yield section
