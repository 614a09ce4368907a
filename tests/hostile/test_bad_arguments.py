from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hostile.conftest import Desk, Run
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


@pytest.fixture(scope="module")
def runs(open_desk: Callable[[], Desk]) -> dict[tuple[str, ...], Run]:
    """Every case run once, each in a folder of its own that it must leave as it was."""

    def run(arguments: tuple[str, ...]) -> Run:
        desk = open_desk()
        for name, content in FILES.items():
            (desk.folder / name).write_bytes(content)
        done = desk.crawl(*arguments)
        left = {path.name: path.read_bytes() for path in desk.folder.iterdir()}
        assert left == FILES, arguments
        return done

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(CASES, pool.map(run, CASES), strict=True))


@each("arguments", CASES)
def test_a_wrong_argument_is_one_sentence_and_code_2(arguments, runs):
    run = runs[arguments]
    assert run.code == 2
    assert run.out == ""
    [line] = run.err.splitlines()
    assert line.startswith(f"scrapy crawl: {CASES[arguments]}")


def test_every_bad_line_of_a_seed_file_is_told(desk: Desk) -> None:
    (desk.folder / "seeds.txt").write_bytes(b"http://[\nhttp://a.test/\nftp://b.test/\n")
    run = desk.crawl(TOPIC, "seeds=seeds.txt")
    assert run.code == 2
    assert [line.partition(": '")[0] for line in run.err.splitlines()] == [
        "scrapy crawl: seeds.txt, line 1",
        "scrapy crawl: seeds.txt, line 3",
    ]


def test_a_setting_out_of_its_range_is_told_and_nothing_is_created(desk: Desk) -> None:
    for value in ("2", "half"):
        run = desk.crawl(
            TOPIC, "seeds=http://a.test/", "store=crawl.db", MMCRAWL_TOPIC_THRESHOLD=value
        )
        assert run.code == 2
        [line] = run.err.splitlines()
        told = "MMCRAWL_TOPIC_THRESHOLD must be a number between 0 and 1, as 0.5"
        assert line == f"scrapy crawl: {told}"
    assert list(desk.folder.iterdir()) == []
