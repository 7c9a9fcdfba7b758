"""Run by `test_spark.py` in a process of its own: fits on Spark beside fits on threads, with
injected noise, while executors are killed. Prints what was found as JSON.

    python cluster.py MASTER --methods bias,ease --struck bias:sum --personal
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import tacit
from tacit.bound import RowClip, Rows
from tacit.engine.spark.engine import Spark
from tacit.engine.spark.keys import digests, fresh_key, secret_words
from tacit.engine.threads import Threads
from tacit.fitting import run
from tacit.methods import find
from tacit.noise.release import NoNoise
from tacit.rounds.people import Coin
from tacit.rounds.round import Part, Personal, Round
from tacit.rounds.state import State
from tacit.testing import inject_bits
from tacit.testing.small_sample import few_ratings

PEOPLE = 120
DECLARED = 20_000
"""People, for a plan with all of its rounds: of few, most methods learn no tastes."""
EPSILON = 5.0
CLUSTER = {
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.speculation": "true",
    "spark.speculation.interval": "200ms",
    "spark.executor.memory": "512m",
    "spark.locality.wait": "0s",
    "spark.ui.showConsoleProgress": "false",
    "spark.io.encryption.enabled": "true",
}


def constant(count: int) -> bytes:
    """Injected entropy that does not know how often it was asked."""
    return bytes((37 * place + 11) % 256 for place in range(count))


class KeyedThreads(Threads):
    """Threads whose coins are those of a cluster."""

    def coins(self):
        return secret_words(fresh_key(), self._digests())

    def partition_words(self):
        return secret_words(fresh_key(), self._digests())

    def _digests(self):
        return digests(self.ratings.users, fresh_key())


@dataclass(frozen=True)
class Slow:
    """What a round asks, and the first who is asked waits to be killed."""

    contribute: Any
    marker: str

    def __call__(self, block: Any, state: Any) -> Any:
        try:
            file = os.open(self.marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            return self.contribute(block, state)
        os.write(file, b"%d" % executor_of(os.getpid()))
        os.close(file)
        time.sleep(3)
        return self.contribute(block, state)


def executor_of(process: int) -> int:
    """The Java process that a worker belongs to."""
    while Path(f"/proc/{process}/comm").read_text().strip() != "java":
        status = Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
        if process == 1:
            return 0
    return process


class StruckSpark(Spark):
    """One executor is killed in the middle of the first round of a kind."""

    strikes = 0
    kind: Any = None
    done = False

    def _work(self, round_: Round, state: State) -> Any:
        if self.done or not self.kind(round_):
            return super()._work(round_, state)
        self.done = True
        marker = os.path.join(mkdtemp(), "marker")
        threading.Thread(target=strike, args=(marker,), daemon=True).start()
        slow = replace(round_, contribute=Slow(round_.contribute, marker))
        return super()._work(slow, state)


KINDS = {
    "sum": lambda round_: True,
    "matrix": lambda round_: any(p.form == "gram" for p in round_.parts),
    "coin": lambda round_: isinstance(round_.takes_part, Coin),
    "state": lambda round_: round_.name == "round 1",
}


def strike(marker: str) -> None:
    """Kill whoever has signed."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            executor = int(Path(marker).read_text())
        except (OSError, ValueError):
            time.sleep(0.05)
            continue
        if executor:
            os.kill(executor, signal.SIGKILL)
            StruckSpark.strikes += 1
        return


def fitted(name: str, engine: type) -> dict[str, Any]:
    """The arrays of a model, fitted with injected noise on an engine."""
    kept = run.make_engine
    run.make_engine = lambda ratings, how, **_: engine(ratings, 1)
    try:
        with inject_bits(constant):
            ratings = few_ratings(people=PEOPLE, seed=7)
            if name == "ease":
                ratings = tacit.read(frame(ratings), (1, 5), positive=4)
            method = find(name)(epsilon=EPSILON, threads=1)
            model = run.trial(method, ratings, users=DECLARED)
    finally:
        run.make_engine = kept
    return dict(model.shared.arrays)


def frame(ratings: Any) -> Any:
    import polars as pl

    return pl.DataFrame(
        {
            "user": [ratings.users[row] for row in ratings.user],
            "item": [ratings.items[row] for row in ratings.item],
            "rating": ratings.value,
        }
    )


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Bit for bit."""
    return ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name], theirs[name], equal_nan=True) for name in ours
    )


def remembered(block: Any, state: Any) -> Any:
    """Everybody keeps half of what she kept and her first rating, and adds it."""
    kept = block.personal["kept"]
    kept *= 0.5
    kept[:, 0] += block.value[block.ptr[:-1]]
    return {"sum": Rows.one_each(kept.copy())}


def kept_state(engine: type) -> list[list[float]]:
    """Sums of three rounds of personal state, of which the second asks some people only."""
    ratings = few_ratings(people=PEOPLE, seed=7)
    with inject_bits(constant):
        made = engine(ratings, 1)
        sums = []
        for number in range(3):
            round_ = Round(
                f"round {number}",
                (Part("sum", 1, RowClip(4.0)),),
                remembered,
                absorb,
                personal=(Personal("kept", 1),),
            )
            if number == 1:
                round_ = replace(round_, takes_part=Coin(0.5))
            found = made.run(round_, State(), NoNoise())["sum"]
            sums.append(found.value.ravel().tolist())
    return sums


def absorb(state: Any, released: Any) -> Any:
    return state


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("master")
    asked.add_argument("--methods", default="")
    asked.add_argument("--struck", default="")
    asked.add_argument("--personal", action="store_true")
    told = asked.parse_args()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(told.master)
    for name, value in CLUSTER.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    sys.stderr.write(f"session {time.process_time():.1f}\n")
    found: dict[str, Any] = {}
    for engine, names in ((Spark, told.methods), (StruckSpark, told.struck)):
        for each in filter(None, names.split(",")):
            name, _, kind = each.partition(":")
            StruckSpark.kind = staticmethod(KINDS[kind or "sum"])
            before = StruckSpark.strikes
            here = fitted(name, KeyedThreads)
            began = time.monotonic()
            equal = same(here, fitted(name, engine))
            took = round(time.monotonic() - began, 1)
            struck = StruckSpark.strikes - before
            key = each
            found[key] = {"equal": equal, "seconds": took, "struck": struck}
            sys.stderr.write(f"{key} {found[key]}\n")
    if told.personal:
        before = StruckSpark.strikes
        StruckSpark.kind = staticmethod(KINDS["state"])
        equal = kept_state(KeyedThreads) == kept_state(StruckSpark)
        struck = StruckSpark.strikes - before
        found["personal:state"] = {"equal": equal, "struck": struck}
    spark.stop()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
