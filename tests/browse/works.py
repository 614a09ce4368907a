"""Works of a crawl to browse in the tests, and media that are kept."""

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from starlette.testclient import TestClient

from mmcrawl.browse import Options
from mmcrawl.media import SWF, MediaFile, State, folder_of, open_collection
from mmcrawl.replay import DemoWeb
from mmcrawl.works import Appearance, Evidence, Licence, Work, WorkFile, open_catalogue
from tests.browse.catalogue import FILM
from tests.media.animations import animation

MOVIE = DemoWeb().get("http://app.demo.test/media/standing-waves.mp4").body
RIPPLE = animation("Ripples", loads=["parts/two.swf"])
PART = animation("Two")
PAGE = Appearance(FILM, "Waves", "topic", 1_700_000_000.0)
BY = Licence("CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/", Evidence("text", "CC BY"))


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def file(url: str, mime: str, data: bytes) -> WorkFile:
    """Return a file that is kept."""
    kind = "animation" if mime == SWF else mime.partition("/")[0]
    return WorkFile(url, kind, mime, len(data), 3.0, digest(data), State.HELD)


WAVES = Work(
    "a" * 16,
    "Water waves & levers",
    "anchor",
    "video",
    (file("http://films.test/waves.mp4", "video/mp4", MOVIE),),
    (PAGE,),
    "How waves meet",
    level="primary",
    languages=("en",),
    licences=(BY,),
)
RIPPLES = Work(
    "b" * 16,
    "水波 <script>alert(1)</script>",
    "page",
    "animation",
    (file("http://films.test/%E6%B0%B4.swf", SWF, RIPPLE),),
    (PAGE,),
    topic="力学",
    languages=("zh",),
)
TONE = Work(
    "c" * 16,
    "A tone",
    "file",
    "audio",
    (WorkFile("http://films.test/sound.mp3", "audio"),),
    (PAGE,),
    caption="a\ud800b",  # what no encoding has
)


def store_of(folder: Path) -> str:
    """Return the URI of a crawl store in a folder."""
    return f"sqlite:///{folder / 'crawl.db'}"


def keep_works(folder: Path) -> Options:
    """Keep three works beside the store of a folder, and two of their files with a part."""
    store = store_of(folder)
    with open_collection(store, None) as collection:
        files = {
            WAVES.files[0].url: MOVIE,
            RIPPLES.files[0].url: RIPPLE,
            "http://films.test/parts/two.swf": PART,
        }
        collection.index.add([MediaFile(url, "animation", page=FILM) for url in files])
        taken = collection.index.take("me", 1.0, 2.0, 9)
        settled = []
        for one in taken:
            data = files[one.url]
            path = folder / "coming"
            path.write_bytes(data)
            collection.files.keep(path, digest(data))
            mime = "video/mp4" if data is MOVIE else SWF
            said = {"digest": digest(data), "size": len(data), "content_type": mime}
            settled.append(replace(one, state=State.HELD, **said))
        assert collection.index.settle(settled, "me") == 3
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        works = (WAVES, RIPPLES, TONE)
        catalogue.describe([(work, (work.files[0].url,)) for work in works])
    return Options(store=store)


def key_of(client: TestClient, path: str = "/works") -> str:
    """Return what forms have to send."""
    found = re.search(r'name="form_key" value="([0-9a-f]{64})"', client.get(path).text)
    assert found
    return found[1]
