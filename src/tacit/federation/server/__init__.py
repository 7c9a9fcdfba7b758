"""The HTTP apps: the recommender and the aggregator of a federation."""
