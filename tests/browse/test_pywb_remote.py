"""pywb replays from a running server of ours, by its CDX server and by Memento.

For MMCRAWL_TEST_PYWB see ``tests/archive/warc/test_pywb.py``.
"""

import json
import os
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse import Options, open_context
from tests.browse.serving import free_port, served, small_app
from tests.programs import run

PYWB = "MMCRAWL_TEST_PYWB"
URL = "http://physics.test/levers"
PAGES = {
    "20231114221320": "<!doctype html><p>A lever lifts a heavy load. 杠杆".encode(),
    "20231116221320": "<!doctype html><p>A lever lifted a heavy load. 杠杆".encode(),
}
TIMES = dict(zip(PAGES, (1_700_000_000.0, 1_700_172_800.0), strict=True))

CONFIG = """
collections:
  cdx: "cdx+{origin}/cdx /replay"
  memento:
    index:
      type: memento
      timegate_url: "{origin}/timegate/{{url}}"
      timemap_url: "{origin}/timemap/link/{{url}}"
      replay_url: "{origin}/replay/{{timestamp}}id_/{{url}}"
"""

REPLAY = """
import base64, json, sys
import gevent.monkey
gevent.monkey.patch_all()
from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client
client = Client(FrontEndApp())
for place in sys.argv[1:]:
    answer = client.get("/" + place)
    body = base64.b64encode(answer.get_data()).decode()
    print("ANSWER " + json.dumps([answer.status_code, body]))
"""


@pytest.fixture
def python() -> str:
    """Return a Python that has pywb."""
    named = os.environ.get(PYWB)
    if not named:
        pytest.skip(f"no pywb: name a Python that has it in the variable {PYWB}")
    return named


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    """A running server with two versions of a page."""
    uri = f"sqlite:///{tmp_path / 'a.db'}"
    with open_archive(uri) as archive:
        for stamp, body in PAGES.items():
            headers = (("Content-Type", "text/html; charset=utf-8"),)
            archive.store(Capture(URL, body, TIMES[stamp], headers=headers))
    port = free_port()
    with (
        open_context(uri, options=Options(port=port)) as context,
        served(small_app(context), port) as origin,
    ):
        yield origin


@pytest.mark.parametrize("collection", ["cdx", "memento"])
def test_pywb_replays_from_a_running_server(python, origin, tmp_path, collection):
    (tmp_path / "config.yaml").write_text(CONFIG.format(origin=origin))
    places = [f"{collection}/{stamp}id_/{URL}" for stamp in PAGES]
    places += [
        f"{collection}/{min(PAGES)}mp_/{URL}",
        f"{collection}/2023id_/http://physics.test/no",
    ]
    done = run(python, "-c", REPLAY, *places, folder=tmp_path, code=None)
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    answers = [json.loads(line.removeprefix("ANSWER ")) for line in lines]
    assert len(answers) == len(places), done.stderr
    (first, second, shown, missing) = [(status, b64decode(body)) for status, body in answers]
    assert [first, second] == [(200, body) for body in PAGES.values()], done.stderr
    assert shown[0] == 200
    assert "A lever lifts a heavy load. 杠杆".encode() in shown[1]
    assert missing[0] == 404
