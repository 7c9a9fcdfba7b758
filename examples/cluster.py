"""A fit on Spark: here on this machine, with ratings that only Spark has read.

    pip install 'tacit[spark]'     (and Java 17 or later)
    python examples/cluster.py

The same lines run in a notebook of a cluster, where `spark` is there already.
"""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

import tacit


def warehouse(spark: SparkSession) -> object:
    """A table as a warehouse has it. Nobody is in it: people are invented."""
    people = tacit.sample(people=300, ratings=9_000, seed=1)
    rows = [
        (people.users[person], people.items[film], float(stars))
        for person, film, stars in zip(people.user, people.item, people.value, strict=True)
    ]
    return spark.createDataFrame(rows, ["person", "item", "rating"])


def main() -> None:
    """Fit on the cluster, then recommend here."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    model = tacit.Bias(epsilon=1.0, engine="spark", ledger="cluster.sqlite").fit(
        warehouse(spark), scale=(1, 5), items=tacit.sample_catalogue(), users=300
    )
    print(model.statement_)
    print(model.recommend({"Alien": 5, "Titanic": 1}, n=5).frame())
    spark.stop()


if __name__ == "__main__":
    main()
