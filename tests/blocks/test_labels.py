"""The pages labelled by hand that this project generates are still those that were labelled."""

import hashlib
import json
from pathlib import Path

from mmcrawl.replay import DemoWeb
from tests.tables import each

LABELS = json.loads((Path(__file__).parent / "labels" / "pages.json").read_bytes())["pages"]
OF_THE_DEMO = [page for page in LABELS if page["source"].startswith("demo:")]


@each("page", OF_THE_DEMO)
def test_a_page_of_the_demo_is_the_one_that_was_labelled(page):
    answer = DemoWeb().get(page["source"].removeprefix("demo:"))
    assert hashlib.sha256(answer.body).hexdigest() == page["sha256"]
