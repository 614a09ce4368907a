"""A Spark session, or one sentence that says what is missing for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mmcrawl.errors import RankError
from mmcrawl.rank.parquet import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LEAST_JAVA = 17
_SETTINGS = {
    # Ranks are hundreds of small, alike steps: the plan of each is best left as it is, so that
    # edges need not be parted anew, and their columns are never small enough to send around.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.cleaner.periodicGC.interval": "1min",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_LOCAL = {
    "spark.master": "local[*]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.ui.enabled": "false",
}


def missing() -> str:
    """Return what Spark lacks here, as a sentence; "" if it can run."""
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            return f"Spark needs {package}: pip install 'mmcrawl[spark]'"
    java = _java()
    if java is None:
        return (
            f"Spark needs Java {_LEAST_JAVA} or newer, and there is none: install one (on Debian"
            f" openjdk-{_LEAST_JAVA}-jre-headless), or say where it is with JAVA_HOME"
        )
    version = _java_version(java)
    if version is not None and version < _LEAST_JAVA:
        return (
            f"Spark needs Java {_LEAST_JAVA} or newer; {java} is Java {version}: say where a newer"
            " one is with JAVA_HOME"
        )
    return ""


@contextmanager
def spark_session(name: str) -> Iterator[SparkSession]:
    """Open a session: the one that runs already, or a new one, which is stopped at the end.

    Under `spark-submit`, or with ``SPARK_MASTER`` or ``spark-defaults.conf``, it is on the cluster
    that these say; else on all cores of this machine, with 4 GB.

    Args:
        name: Of the application.

    Raises:
        RankError: pyspark or Java is missing, Spark does not start, or what it is given fails.
    """
    if problem := missing():
        raise RankError(problem)
    from py4j.protocol import Py4JError
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if (running := SparkSession.getActiveSession()) is not None:
        yield running
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = SparkConf()
    settings = dict(_SETTINGS)
    if master := os.environ.get("SPARK_MASTER"):
        settings["spark.master"] = master
    elif not given.contains("spark.master"):
        log = Path(__file__).with_name("spark_log.properties")
        settings |= _LOCAL
        settings["spark.driver.extraJavaOptions"] = f'"-Dlog4j2.configurationFile=file:{log}"'
    builder = SparkSession.builder.appName(name)
    for key, value in settings.items():
        if key == "spark.master" or not given.contains(key):
            builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # whatever Java says
        raise RankError(f"Spark does not start ({_first_line(error)})") from error
    try:
        yield spark
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise RankError(f"Spark failed: {_first_line(error)}") from error
    finally:
        with suppress(Py4JError, ConnectionError):  # Java may have died
            spark.stop()


def export_table(spark: SparkSession, export: str, name: str) -> DataFrame:
    """Return the rows of a file of an export.

    Args:
        spark: The session.
        export: Path or URI of the folder, as Hadoop takes it.
        name: A key of :data:`mmcrawl.rank.parquet.COLUMNS`.

    Raises:
        RankError: there is no such file, or it is not of an export.
    """
    from pyspark.errors import PySparkException

    path = f"{export.rstrip('/')}/{name}.parquet"
    try:
        return spark.read.parquet(path).select(*COLUMNS[name])
    except PySparkException as error:
        bodies = " --bodies" if name == "bodies" else ""
        raise RankError(
            f"{path} is no file of an export ({_first_line(error)}); `scrapy archive"
            f" export-parquet FOLDER{bodies}` writes one"
        ) from error


def is_free(spark: SparkSession, place: str) -> bool:
    """Tell whether nothing is at a path or URI yet, as Hadoop sees it."""
    path = spark._jvm.org.apache.hadoop.fs.Path(place)  # type: ignore[union-attr, unused-ignore]
    return not path.getFileSystem(spark._jsc.hadoopConfiguration()).exists(path)


def _first_line(error: Exception) -> str:
    lines = (line.strip(" :\t") for line in str(error).splitlines())
    # What Java throws is told in the second line; the first one says who called it.
    told = (line for line in lines if line and not line.startswith("An error occurred while call"))
    return next(told, type(error).__name__)[:300]


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        return str(path) if path.is_file() else None
    return shutil.which("java")


def _java_version(java: str) -> int | None:
    """Return 17 of ``openjdk version "17.0.15"``, 8 of ``"1.8.0_412"``; None if it says neither."""
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found else None
