"""Compiled loops over arrays that two rooms share; any other sits with its user. Each has a
plain numpy twin that a test compares it with."""
