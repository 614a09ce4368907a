from pathlib import Path

import pytest

from tests.commands.running import called
from tests.desks import Desk
from tests.tables import each

TOPIC = "topic=physics-senior"
FILES = {"bad_line.txt": b"http://a.test/\n\nhttp://[\n"}
# One of each kind of place that refuses: what each says is in tests/test_messages.py.
CASES = {
    ("algo=urlrule:lift=1;s=2",): "algo: parameters are arguments of their own: -a algo=urlrule"
    " -a lift=1 -a s=2",
    (TOPIC, "seeds=http://me:s3cret@a.test/"): "seed http://a.test/: user name and password would",
    (TOPIC, "seeds=bad_line.txt"): "bad_line.txt, line 3: 'http://[' is no URL; write it as http",
    ("web=demo", "archive=yes"): "archive: 'yes' is not understood; it may be sqlite:///FILE,",
    ("-sMMCRAWL_WEB=nosuch", TOPIC): "web: 'nosuch' does not exist; it may be demo, a folder",
}


@each("arguments", CASES)
def test_a_wrong_argument_is_one_sentence_and_code_2_and_leaves_the_folder_as_it_was(
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    given = [word for one in arguments for word in (("-a", one) if one[0] != "-" else (one,))]
    said = called("scrapy", "crawl", "focused", *given, capture=capfd)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == FILES
    assert (said.code, said.out) == (2, "")
    [line] = said.err.splitlines()
    assert line.startswith(f"scrapy crawl: {CASES[arguments]}")


def test_a_setting_out_of_its_range_is_told_and_nothing_is_created(desk: Desk) -> None:
    seeded = (TOPIC, "seeds=http://a.test/", "store=crawl.db")
    run = desk.crawl(*seeded, MMCRAWL_TOPIC_THRESHOLD="2")
    assert run.code == 2
    [line] = run.err.splitlines()
    told = "MMCRAWL_TOPIC_THRESHOLD must be a number between 0 and 1, as 0.5"
    assert line == f"scrapy crawl: {told}"
    assert list(desk.folder.iterdir()) == []
