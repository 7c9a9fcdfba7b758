"""A part of the embedded sample: few people and few films, so that a test that is run for every
method, unit and delta ends soon."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.sample import sample, sample_catalogue

EVERY = 4
"""One film of so many is kept: 181 of 721, of all years. What is made of items (inverses,
spectra) costs up to their third power."""
PEOPLE = 151
EACH = 80
"""Ratings of one person on average before films are left out; about 20 stay."""


@cache
def few_films() -> Catalogue:
    """Films of the sample, one of every four."""
    return one_of(EVERY, sample_catalogue())


def one_of(every: int, catalogue: Catalogue) -> Catalogue:
    """One item of every so many."""
    assert catalogue.titles is not None
    assert catalogue.years is not None
    assert catalogue.tagged is not None
    return replace(
        catalogue,
        ids=catalogue.ids[::every],
        titles=catalogue.titles[::every],
        years=catalogue.years[::every],
        tagged=catalogue.tagged[::every],
    )


@cache
def few_ratings(people: int = PEOPLE, seed: int = 3) -> Ratings:
    """What invented people have rated of `few_films`."""
    all_ratings = sample(people=people, ratings=EACH * people, seed=seed)
    part = all_ratings.take(all_ratings.item % EVERY == 0)
    item = (part.item // EVERY).astype(np.uint32)
    return replace(part, items=few_films().ids, item=item)
