"""What `scripts/compare` does: run one list of cells in two checkouts and tell which differ.

`cells`, `commands` and `tables` list what is run, on the `bench`. `record` is what is kept of it.
`worker` does so in a process of its own with one checkout on its path. `trees` starts workers and
caches what they found. `differ` tells two records apart.

A checkout is used only through `version`: the names of `import tacit`, of `tacit.methods` and
`tacit.testing`, and the command line. So the rooms of the house may move.
"""
