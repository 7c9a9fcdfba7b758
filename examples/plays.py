"""Plays of songs: no ratings at all, only who played what. `ease` learns lists from likes."""

from __future__ import annotations

import polars as pl

import tacit


def main() -> None:
    """Fit likes, recommend from likes, and say what was promised."""
    people = tacit.sample(2_000)
    plays = pl.DataFrame(
        {
            "listener": [people.users[person] for person in people.user],
            "track": [people.items[film] for film in people.item],
        }
    )
    model = tacit.EASE(epsilon=5.0, ledger="plays.sqlite").fit(
        plays,
        positive=True,
        columns={"user": "listener"},
        items=tacit.sample_catalogue(),
        users=2_000,
    )
    liked = dict.fromkeys(("Alien", "Aliens", "The Thing"), 1.0)
    for line in model.recommend(liked, n=5):
        print(line.title, line.because)
    print(model.statement_)


if __name__ == "__main__":
    main()
