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

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)

# A table as a warehouse has it. Nobody is in it: people are invented.
sample = tacit.sample(people=300, ratings=9_000, seed=1)
rows = [
    (sample.users[person], sample.items[item], float(value))
    for person, item, value in zip(
        sample.user, sample.item, sample.value, strict=True
    )
]
table = spark.createDataFrame(rows, ["person", "item", "rating"])

method = tacit.Bias(
    epsilon=1.0, engine="spark", ledger="book.sqlite", population="cluster"
)
model = method.fit(table, scale=(1, 5), items=tacit.sample_items(), users=300)
print(model.statement_)
for line in model.recommend({}, n=3):
    print(line.rank, line.title)
spark.stop()
