"""Training without holding ratings: devices, an aggregator, a recommender. Who sends what:
`docs/protocol.md`."""
