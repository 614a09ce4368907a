"""Ranks on Spark agree with those computed here."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcrawl.archive import Archive
from mmcrawl.blocks import KINDS
from mmcrawl.errors import RankError
from mmcrawl.rank import (
    METHODS,
    GraphBuilder,
    RankJob,
    Reading,
    ReadPage,
    TopicContent,
    rank_pages,
    spark_job,
)
from mmcrawl.topic import topic_from_keywords
from tests.rank.conftest import Keep
from tests.rank.graphs import read_page

PAGES = 40
ROUGHLY = 1e-6

needs_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None,
    reason="pyspark or Java is missing",
)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """One session for all tests: starting it takes longer than they do."""
    with spark_job.spark_session("mmcrawl tests") as session:
        yield session


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ranks settle sooner: a step takes its time."""
    monkeypatch.setattr(spark_job, "TOLERANCE", ROUGHLY / 10)


def pages_of_a_web() -> list[ReadPage]:
    """Return two parts without links between them, dangling pages, self-links, repeated links.

    Blocks link to pages more than once, hold no text, or stand beside the others (-1).
    """
    dice = random.Random(2026)
    pages = []
    for number in range(PAGES):
        part = range(PAGES // 4) if number < PAGES // 4 else range(PAGES // 4, PAGES - 1)
        blocks = []
        for _ in range(dice.randint(0, 5) if number % 7 else 0):
            targets = [dice.choice([*part, number, -1]) for _ in range(dice.randint(0, 4))]
            blocks.append((dice.choice([0, 5, 80, 700]), dice.choice(KINDS), targets))
        pages.append(read_page(number, blocks))
    return pages


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[ReadPage], Path]:
    from mmcrawl.rank import write_export

    pages = pages_of_a_web()
    folder = tmp_path_factory.mktemp("export")
    write_export(pages, folder, row_group=16)
    return pages, folder


def scores_of(frame: Any) -> list[float]:
    """Return the scores of a DataFrame of ranks, by id."""
    return [row["score"] for row in sorted(frame.collect(), key=lambda row: row["id"])]


@needs_spark
@pytest.mark.parametrize("name", ["quarkrank", "block-pagerank", "pagerank"])
def test_ranks_are_those_of_scipy(spark: Any, web: tuple[list[ReadPage], Path], name: str) -> None:

    pages, folder = web
    found = spark_job.rank_export(spark, str(folder), name)
    here = METHODS[name].rank(GraphBuilder.of(pages), None, None)
    scores = np.array(scores_of(found.frame))
    assert np.abs(scores - here.scores).max() < ROUGHLY
    assert scores.sum() == pytest.approx(1, abs=ROUGHLY)
    assert found.change < ROUGHLY
    assert found.steps > 0


LESSON = (
    "<title>{0}</title><div><h1>{0}</h1><p>{1}</p></div>"
    "<p><a href='/{2}'>next</a> <a href='/0'>begin</a></p>"
)


@needs_spark
def test_topic_pagerank_of_an_archive_is_that_of_scipy(
    spark: Any, archive: Archive, uri: str, keep: Keep, tmp_path: Path
) -> None:
    from mmcrawl.rank import write_export

    for number, about in enumerate(("levers", "pulleys", "levers and cakes", "cakes", "杠杆")):
        text = f"All about {about}, and how they are made. " * 5
        keep(f"http://h.test/{number}", LESSON.format(about, text, (number * 3 + 1) % 5))
    keep("http://h.test/9", "gone", status=404)
    topic = topic_from_keywords("levers,杠杆")
    content = [TopicContent(topic).of(page) for page in Reading(archive, topics=True)]
    assert len(set(content)) > 1
    write_export(Reading(archive, topics=True), tmp_path / "export")
    there = spark_job.rank_export(
        spark, str(tmp_path / "export"), "topic-pagerank", topic=topic
    ).frame
    here = rank_pages(RankJob(uri, "topic-pagerank", topic=topic), archive).pages
    assert np.abs(np.array(scores_of(there)) - here.scores).max() < ROUGHLY
    assert len(set(here.scores.round(6))) > 2
    assert {row["url"]: row["id"] for row in there.collect()} == {
        url: number for number, url in enumerate(here.urls)
    }


@needs_spark
def test_pages_without_links_are_all_alike(spark: Any, tmp_path: Path) -> None:
    from mmcrawl.rank import write_export

    write_export([read_page(n, [(9, "topic", [n, -1])]) for n in range(3)], tmp_path)
    for name in ("quarkrank", "pagerank"):
        assert scores_of(spark_job.rank_export(spark, str(tmp_path), name).frame) == [1 / 3] * 3


@needs_spark
def test_an_export_without_pages_is_told(spark: Any, tmp_path: Path) -> None:
    from mmcrawl.rank import write_export

    with pytest.raises(RankError, match=r"pages\.parquet is no file of an export .*export-parquet"):
        spark_job.rank_export(spark, str(tmp_path), "pagerank")
    write_export([], tmp_path)
    with pytest.raises(RankError, match="holds no page to rank"):
        spark_job.rank_export(spark, str(tmp_path), "pagerank")


@needs_spark
def test_the_job_reads_and_writes_where_hadoop_says(
    spark: Any,
    web: tuple[list[ReadPage], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By URI, and nothing that grows with the pages is brought to the driver."""
    import pyarrow.parquet
    from pyspark.sql import classic

    frames = classic.dataframe.DataFrame
    collect = frames.collect

    def collect_one(frame: Any) -> Any:
        rows = collect(frame)
        assert len(rows) <= 1  # a sum, as first() asks for it
        return rows

    monkeypatch.setattr(frames, "collect", collect_one)
    for name in ("toArrow", "toPandas", "toLocalIterator"):
        monkeypatch.setattr(frames, name, None)
    pages, folder = web
    result = tmp_path / "ranks"
    words = [folder.as_uri(), result.as_uri(), "--method", "pagerank"]
    assert spark_job.main(words) == 0, capsys.readouterr().err
    rows = sorted(pyarrow.parquet.read_table(result).to_pylist(), key=lambda row: row["id"])
    here = METHODS["pagerank"].rank(GraphBuilder.of(pages), None, None)
    assert [row["url"] for row in rows] == [page.page.url for page in pages]
    assert np.abs(np.array([row["score"] for row in rows]) - here.scores).max() < ROUGHLY
    assert spark_job.main(words) == 1
    assert "ranks exists; name a new folder" in capsys.readouterr().err


@needs_spark
def test_a_missing_java_is_one_sentence(tmp_path: Path) -> None:
    """Asked in a process of its own: Java is started once."""
    code = "import sys; from mmcrawl.rank import spark_job; sys.exit(spark_job.main(['e', 'r']))"
    command = [sys.executable, "-c", code]
    where = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=where, check=False)
    assert done.returncode == 1
    assert "it needs Java 17 or newer, on the PATH or where JAVA_HOME says" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_pyspark_is_one_sentence() -> None:
    """Asked in a process that cannot import it."""
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from importlib import util; real = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'pyspark' else real(name, *rest)\n"
        "from mmcrawl.rank import spark_job; sys.exit(spark_job.main(['e', 'r']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "spark_job: Spark needs pyspark: pip install 'mmcrawl[spark]'\n"


@pytest.mark.parametrize("dies", [False, True])
def test_what_fails_on_spark_is_one_sentence(monkeypatch: pytest.MonkeyPatch, dies: bool) -> None:
    pytest.importorskip("pyspark", reason="pyspark is missing")
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    class Session:
        def stop(self) -> None:
            if dies:
                raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda self: Session())
    told = pytest.raises(RankError, match=r"^Spark failed: no space left$")
    with told, spark_job.spark_session("test"):
        raise PySparkException(
            "An error occurred while calling o56.count.\n: no space left\n\tat x"
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "topic-pagerank"], "--topic or --keywords goes with topic-pagerank"),
        (["--keywords", "lens"], "--topic or --keywords goes with topic-pagerank"),
        (["--keywords", "lens", "--topic", "physics"], "not both"),
    ],
)
def test_the_job_tells_wrong_topics_at_once(
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(spark_job, "spark_session", None)  # it must not be asked for
    assert spark_job.main([str(tmp_path), str(tmp_path / "result"), *words]) == 1
    assert said in capsys.readouterr().err
