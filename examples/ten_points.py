"""Ratings from 1 to 10, in a data frame: the scale is said, never looked up in the ratings."""

from __future__ import annotations

import polars as pl

import tacit


def main() -> None:
    """Fit a frame, and predict on its own scale."""
    people = tacit.sample(1_000)
    frame = pl.DataFrame(
        {
            "user": [people.users[person] for person in people.user],
            "item": [people.items[film] for film in people.item],
            "points": 2 * people.value,
        }
    )
    model = tacit.Bias(epsilon=2.0, ledger="points.sqlite").fit(
        frame,
        scale=(1, 10),
        columns={"rating": "points"},
        items=tacit.sample_catalogue(),
        users=1_000,
    )
    best = model.recommend({"Heat": 9, "Alien": 8}, n=3)
    for line in best:
        print(f"{line.title}: {line.rating:.1f} of 10, give or take {line.error:.1f}")


if __name__ == "__main__":
    main()
