"""One trusted curator, ratings on a cluster: blocks of people as rows of a Spark table, the
same rounds and kernels as `threads`, noise on the driver after the sum.

Only tables and functions over Arrow batches are used, so that Spark Connect works. What runs
on executors is in `code`, `pack`, `work` and `work`; it is determinate, because Spark runs a
task again when an executor is lost, and twice when one is slow: nothing is drawn there, and
a secret coin is a keyed hash (`keys`). What runs on the driver is in `engine` and `table`;
it collects sums of whole partitions, and never a rating or a person's id.

`pyspark` is imported where it is used: who fits on one machine needs none.
"""
