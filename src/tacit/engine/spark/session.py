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
from threading import Thread
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
    # Coding takes a look-up for each batch: ten times as many rows as Spark hands over unasked.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    # Plans of one or two steps: to plan them anew after each step takes longer than it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
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
    cores, scratch = 0, ""
    if not any(os.environ.get(name) for name in GIVEN):
        cores = threads or len(os.sched_getaffinity(0))
        builder = builder.master(f"local[{cores}]")
        scratch = tempfile.mkdtemp(prefix="tacit-spark-")
        atexit.register(_sweep, scratch)
        settings = {"spark.local.dir": scratch, "spark.sql.shuffle.partitions": str(cores)}
        for name, value in {**LOCAL, **settings}.items():
            builder = builder.config(name, value)
    # Java starts in a process of its own: meanwhile this one loads what it will need.
    loading = Thread(target=_load_kernels, daemon=True)
    loading.start()
    try:
        with _quiet():
            spark = builder.getOrCreate()
            loading.join()
            if cores:
                _wake(spark, cores, scratch)
            return spark
    except Exception as error:  # noqa: BLE001
        # Whatever Java or Spark say: the remedy is one.
        raise Failure(
            f"Spark could not be started ({type(error).__name__})",
            remedy="is Java 17 or later installed? `java -version` says it; see docs/spark.md",
        ) from None


def _load_kernels() -> None:
    """numba and what it needs for any kernel, by running a small one."""
    import numpy as np

    from tacit.kernels.rows import add_rows

    add_rows(np.zeros(1, np.uint32), np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64))


def _wake(spark: Any, cores: int, scratch: str) -> None:
    """Start a worker for each core of this machine, and have Spark and them load what a round
    needs, so that no fit waits for either."""
    from tacit.engine.spark.wake import wake
    from tacit.engine.spark.work import Awake

    rows = spark.range(0, cores, 1, cores).mapInArrow(Awake(), "id long")
    rows.toArrow()
    wake(spark, scratch)


def cores_of(spark: Any) -> int:
    """How many tasks run at a time."""
    try:
        return max(1, int(spark.sparkContext.defaultParallelism))
    except Exception:  # noqa: BLE001
        # Spark Connect has no context to ask.
        return FEW


@contextmanager
def spark_errors(activity: str) -> Iterator[None]:
    """What Spark could not do, without its words: they may quote a row."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        condition_of = getattr(error, "getCondition", None)
        name = (condition_of() if callable(condition_of) else None) or type(error).__name__
        raise Failure(
            f"Spark stopped while it {activity} ({name})",
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
    saved_stderr = os.dup(2)
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved_stderr, 2)
            os.close(saved_stderr)
