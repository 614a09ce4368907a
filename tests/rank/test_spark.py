"""Ranks on Spark are, step by step, those that the same formulas give here."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcrawl.blocks import KINDS
from mmcrawl.errors import RankError
from mmcrawl.rank import KIND_WEIGHTS, TopicContent, spark_job
from mmcrawl.topic import topic_from_keywords
from tests.rank.graphs import Block, dense_steps, links_of, read_page, topic_shares_of, walks_of
from tests.tables import each

PAGES = 20
STEPS = 6  # each is a join and a sum, and takes its time
WORDS = "levers,杠杆"

needs_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None,
    reason="pyspark or Java is missing",
)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """One small session for all tests: starting it takes longer than they do."""
    with pytest.MonkeyPatch.context() as patched:
        # No code is compiled for what is done on a few rows.
        patched.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto")
        patched.setitem(spark_job._SETTINGS, "spark.sql.codegen.wholeStage", "false")
        patched.setitem(spark_job._SETTINGS, "spark.sql.codegen.factoryMode", "NO_CODEGEN")
        patched.setitem(spark_job._LOCAL, "spark.master", "local[1]")
        patched.setattr(spark_job, "MOST_STEPS", STEPS)
        with spark_job.spark_session("mmcrawl tests") as session:
            yield session


def made_web() -> list[list[Block]]:
    """Return two parts without links between them, dangling pages, self-links, repeated links.

    Blocks link to pages more than once, hold no text, or stand beside the others (-1).
    """
    dice = random.Random(2026)
    web = []
    for number in range(PAGES):
        part = range(PAGES // 4) if number < PAGES // 4 else range(PAGES // 4, PAGES - 1)
        blocks = []
        for _ in range(dice.randint(0, 5) if number % 7 else 0):
            targets = [dice.choice([*part, number, -1]) for _ in range(dice.randint(0, 4))]
            blocks.append((dice.choice([0, 5, 80, 700]), dice.choice(KINDS), targets))
        web.append(blocks)
    return web


WEB = made_web()
TITLES = ("All about levers", "Cakes", "杠杆 levers")
READ = [read_page(number, blocks) for number, blocks in enumerate(WEB)]
READ = [replace(one, page=replace(one.page, title=TITLES[n % 3])) for n, one in enumerate(READ)]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from mmcrawl.rank import write_export

    folder = tmp_path_factory.mktemp("export")
    write_export(READ, folder, row_group=16)
    return folder


def expected(name: str) -> Any:
    content = np.array([TopicContent(topic_from_keywords(WORDS)).of(page) for page in READ])
    assert len(set(content)) > 2
    to_blocks, to_pages = walks_of(WEB, KIND_WEIGHTS)
    matrix, epsilon = {
        "pagerank": (links_of(WEB), 0.15),
        "quarkrank": (to_blocks @ to_pages, 0.15),
        "topic-pagerank": (topic_shares_of(WEB, content), 0.2),
    }[name]
    return dense_steps(matrix, epsilon, STEPS)


@needs_spark
@each("name", ["quarkrank", "pagerank"])
def test_ranks_are_those_of_the_formulas(spark: Any, export: Path, name: str) -> None:
    found = spark_job.rank_export(spark, str(export), name)
    rows = sorted(found.frame.collect(), key=lambda row: row["id"])
    np.testing.assert_allclose([row["score"] for row in rows], expected(name), atol=1e-12)
    assert (found.steps, 1e-9 < found.change < 1) == (STEPS, True)


@needs_spark
def test_pages_without_links_are_all_alike_and_soon(spark: Any, tmp_path: Path) -> None:
    from mmcrawl.rank import write_export

    write_export([read_page(n, [(9, "topic", [n, -1])]) for n in range(3)], tmp_path)
    found = spark_job.rank_export(spark, str(tmp_path), "quarkrank")
    assert [row["score"] for row in found.frame.collect()] == [1 / 3] * 3
    assert found.steps < STEPS
    empty = tmp_path / "empty"
    with pytest.raises(RankError, match="export-parquet"):
        spark_job.rank_export(spark, str(empty), "pagerank")
    write_export([], empty)
    with pytest.raises(RankError, match="no page"):
        spark_job.rank_export(spark, str(empty), "pagerank")


@needs_spark
def test_the_job_reads_and_writes_where_hadoop_says(
    spark: Any,
    export: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By URI, and nothing that grows with the pages is brought to the driver."""
    import pyarrow.parquet
    from pyspark.sql.classic.dataframe import DataFrame as frames  # noqa: N813 - the class itself

    collect = frames.collect

    def collect_one(frame: Any) -> Any:
        rows = collect(frame)
        assert len(rows) <= 1  # a sum, as first() asks for it
        return rows

    monkeypatch.setattr(frames, "collect", collect_one)
    for name in ("toArrow", "toPandas", "toLocalIterator"):
        monkeypatch.setattr(frames, name, None)
    result = tmp_path / "ranks"
    words = [export.as_uri(), result.as_uri(), "--method", "topic-pagerank", "--keywords", WORDS]
    assert spark_job.main(words) == 0
    assert f"after {STEPS} steps ranks still change" in capsys.readouterr().err
    rows = sorted(pyarrow.parquet.read_table(result).to_pylist(), key=lambda row: row["id"])
    assert [row["url"] for row in rows] == [page.page.url for page in READ]
    found = [row["score"] for row in rows]
    np.testing.assert_allclose(found, expected("topic-pagerank"), atol=1e-12)
    assert spark_job.main(words) == 1
    assert "name a new folder" in capsys.readouterr().err


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


def test_a_missing_pyspark_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(spark_job, "find_spec", lambda name: None)
    assert spark_job.main(["e", "r"]) == 1
    assert capsys.readouterr().err == (
        "spark_job: Spark needs pyspark: pip install 'mmcrawl[spark]'\n"
    )


@each(
    "words, said",
    [
        (["--method", "topic-pagerank"], "--topic or --keywords goes with topic-pagerank"),
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
