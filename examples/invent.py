"""A table of invented people, for whoever has none at hand: `python examples/invent.py`.

Writes `ratings.csv`, `films.csv` and `mine.csv` here. `--people 500` for a smaller one.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Sequence
from itertools import compress
from pathlib import Path

import tacit
from tacit.data.audience import audience

MINE = {"Alien": 5, "Blade Runner": 5, "The Terminator": 4, "Titanic": 1}


def write(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """One csv with a header."""
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(head)
        out.writerows(rows)
    print(name)


def main() -> None:
    """People, films, and one more person: you."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    people = audience(parser.parse_args().people)
    films = tacit.sample_catalogue()
    cells = zip(people.user, people.item, people.value, strict=True)
    rows = ((people.users[who], people.items[what], int(stars)) for who, what, stars in cells)
    write("ratings.csv", ["user", "item", "rating"], rows)
    known = zip(films.ids, films.titles, films.tagged, strict=True)
    rows = ((id_, title, "|".join(compress(films.tags, tagged))) for id_, title, tagged in known)
    write("films.csv", ["item", "title", "genres"], rows)
    write("mine.csv", ["item", "rating"], MINE.items())


if __name__ == "__main__":
    main()
