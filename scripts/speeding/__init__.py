"""What `scripts/speed` does: time the same fits in two checkouts, in turn, and tell what changed.

`shapes` lists the tables and invents them. `worker` reads and fits one in a process of its own.
`rule` decides what is beyond noise. Checkouts are run as `scripts/compare` runs them.
"""
