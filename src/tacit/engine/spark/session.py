"""The Spark session of a run: the one that is there, or one on this machine."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tacit.errors import Failure, SettingError

GIVEN = ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")
"""Where one of these is set, somebody has said which cluster is meant: `spark-submit` does."""
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # What Spark writes to disk are ratings: nobody can read it without the run's key.
    "spark.io.encryption.enabled": "true",
    "spark.driver.memory": "3g",
    "spark.sql.session.timeZone": "UTC",
}
"""Of a session on this machine, which listens to this machine alone."""
FEW = 8
"""Tasks at a time, where a cluster does not say."""


def session(threads: int | None = None) -> Any:
    """The active session, else a new one: of the cluster that the environment names, or
    with `threads` cores of this machine."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SettingError(
            "the engine spark needs pyspark, which is not installed",
            remedy="pip install 'tacit[spark]'; Java 17 or later must be there too",
        ) from None
    warnings.filterwarnings("ignore", message="PySpark does not yet fully")
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    # Executors of this machine run this very Python.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("tacit")
    cores = 0
    if not any(os.environ.get(name) for name in GIVEN):
        cores = threads or len(os.sched_getaffinity(0))
        builder = builder.master(f"local[{cores}]")
        scratch = tempfile.mkdtemp(prefix="tacit-spark-")
        atexit.register(_sweep, scratch)
        for name, value in {**LOCAL, "spark.local.dir": scratch}.items():
            builder = builder.config(name, value)
    try:
        with _quiet():
            made = builder.getOrCreate()
            if cores:
                _wake(made, cores)
            return made
    except Exception as error:  # noqa: BLE001
        # Whatever Java or Spark say: the remedy is one.
        raise Failure(
            f"Spark could not be started ({type(error).__name__})",
            remedy="is Java 17 or later installed? `java -version` says it; see "
            "docs/spark.md",
        ) from None


def _wake(spark: Any, cores: int) -> None:
    """Start a worker for each core of this machine, and have Spark load what brings people
    together, so that no fit waits for either."""
    from tacit.engine.spark.work import Awake

    rows = spark.range(0, cores, 1, cores).mapInArrow(Awake(), "id long")
    together = rows.repartition(cores, "id").sortWithinPartitions("id")
    together.mapInArrow(Awake(), "id long").persist().toArrow()
    rows.groupBy("id").count().toArrow()
    spark.catalog.clearCache()


def cores_of(spark: Any) -> int:
    """How many tasks run at a time."""
    try:
        return max(1, int(spark.sparkContext.defaultParallelism))
    except Exception:  # noqa: BLE001
        # Spark Connect has no context to ask.
        return FEW


@contextmanager
def spark_errors(what: str) -> Iterator[None]:
    """What Spark could not do, without its words: they may quote a row."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        asked = getattr(error, "getCondition", None)
        name = (asked() if callable(asked) else None) or type(error).__name__
        raise Failure(
            f"Spark stopped while it {what} ({name})",
            remedy="the log of Spark says more, and may quote ratings (a session that "
            "Tacit starts keeps none: start one yourself); see docs/spark.md",
        ) from None


def _sweep(scratch: str) -> None:
    """At the end of the process: nothing that Spark wrote is left."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what a new JVM writes to standard error, now and later: it may quote rows."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
