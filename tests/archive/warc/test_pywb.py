"""Exported files are replayed by pywb, a Wayback Machine of its own.

pywb pins packages that clash with ours (brotlipy in place of brotli), so it lives in an environment
of its own: ``python -m venv PYWB && PYWB/bin/pip install pywb``, then name ``PYWB/bin/python`` in
the variable MMCRAWL_TEST_PYWB.
"""

import json
import os
import sys
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.archive import Capture
from mmcrawl.archive.warc import export_warc
from tests.programs import run

PYWB = "MMCRAWL_TEST_PYWB"
TIME = 1_700_000_000.25  # 2023-11-14T22:13:20Z
PAGE = b"<!DOCTYPE html><html><body>" + "<p>Größe — a lever.</p>".encode() * 30 + b"</body></html>"
TYPE = ("Content-Type", "text/html; charset=utf-8")
CODED = (TYPE, ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))

REPLAY = """
import base64, json, sys
import gevent.monkey
gevent.monkey.patch_all()
from pywb.apps.frontendapp import FrontEndApp
from pywb.manager.manager import main
from werkzeug.test import Client
main(["init", "pages"])
main(["add", "pages", sys.argv[1]])
client = Client(FrontEndApp())
for place in sys.argv[2:]:
    answer = client.get("/pages/" + place)
    body = base64.b64encode(answer.get_data()).decode()
    print("ANSWER " + json.dumps([answer.status_code, dict(answer.headers), body]))
"""


@pytest.fixture
def python() -> str:
    """Return a Python that has pywb."""
    if named := os.environ.get(PYWB):
        return named
    if find_spec("pywb") is not None:
        return sys.executable
    pytest.skip(f"no pywb: name a Python that has it in the variable {PYWB}")


def replayed(python: str, path: Path, *places: str) -> list[tuple[int, dict[str, str], bytes]]:
    """Return what pywb answers at each place (time, modifier, URL): status, headers, body."""
    home = path.parent / "pywb"
    home.mkdir()
    done = run(python, "-c", REPLAY, path, *places, folder=home, code=None)
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    answers: list[Any] = [json.loads(line.removeprefix("ANSWER ")) for line in lines]
    assert len(answers) == len(places), done.stderr
    return [(status, headers, b64decode(body)) for status, headers, body in answers]


@pytest.mark.parametrize("packed", [True, False])
def test_pywb_replays_what_was_stored(archive, tmp_path, python, packed):
    url = "http://physics.test/levers"
    archive.store(Capture(url, PAGE, TIME, 200, CODED, "OK"))
    archive.store(Capture(url, PAGE, TIME + 60, 200, CODED, "OK"))
    archive.note_unchanged(url, TIME + 120)
    archive.store(Capture(url, PAGE + b"\n", TIME + 180, 200, (TYPE,), "OK"))
    archive.note_unchanged(url, TIME + 200, 503)
    archive.store(Capture(url, PAGE, TIME + 240, 200, (TYPE, ("X-Back", "yes")), "OK"))
    archive.store(Capture("http://physics.test/copy", PAGE, TIME, 404, (TYPE,), "Not Found"))
    archive.store(Capture("http://physics.test/same", PAGE, TIME, 200, CODED, "OK"))
    archive.store(Capture("http://physics.test/Größe b", PAGE + b" ", TIME, 200, (TYPE,), "OK"))
    path = tmp_path / ("all.warc.gz" if packed else "all.warc")
    assert export_warc(archive, path, gzip=packed).problems == ()

    answers = replayed(
        python,
        path,
        f"20231114221320id_/{url}",
        f"20231114221420id_/{url}",
        f"20231114221520id_/{url}",
        f"20231114221620id_/{url}",
        f"20231114221720id_/{url}",
        f"20231114221640id_/{url}",  # which failed: the one before is nearest
        "20231114221320id_/http://physics.test/copy",
        "20231114221320id_/http://physics.test/same",
        "20231114221320id_/http://physics.test/Gr%C3%B6%C3%9Fe%20b",
    )
    bodies = [PAGE, PAGE, PAGE, PAGE + b"\n", PAGE, PAGE + b"\n", PAGE, PAGE, PAGE + b" "]
    assert [body for _, _, body in answers] == bodies
    assert [status for status, _, _ in answers] == [200] * 6 + [404, 200, 200]
    assert {headers["Content-Type"] for _, headers, _ in answers} == {TYPE[1]}
    assert [headers["Memento-Datetime"][17:25] for _, headers, _ in answers[:6]] == [
        "22:13:20",
        "22:14:20",
        "22:15:20",
        "22:16:20",
        "22:17:20",
        "22:16:20",
    ]
    assert answers[4][1]["X-Back"] == "yes"
