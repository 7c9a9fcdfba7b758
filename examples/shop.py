"""A shop's ratings: from a csv to a private model, a list with reasons, and a page to forward.

Run it anywhere: `python examples/shop.py`. It invents the shop's table first.
"""

from __future__ import annotations

import csv
from pathlib import Path

import tacit


def invent(path: Path) -> None:
    """A table as a shop would export it; every line is made up."""
    people = tacit.sample(2_000)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["customer", "film", "stars"])
        for person, film, stars in zip(people.user, people.item, people.value, strict=True):
            out.writerow([people.users[person], people.items[film], int(stars)])


def main() -> None:
    """Fit by path, recommend, write the statement."""
    invent(Path("shop.csv"))
    model = tacit.Bayes(epsilon=1.0, ledger="shop.sqlite").fit(
        "shop.csv", scale=(1, 5), items=tacit.sample_catalogue(), users=2_000
    )
    mine = {"Alien": 5, "Blade Runner": 5, "Titanic": 1}
    print(model.recommend(mine, n=5).frame())
    verdict = tacit.verify(model.model_, ledger="shop.sqlite")
    page = verdict.page(by="A shop", data="stars of customers")
    Path("statement.html").write_text(page, encoding="utf-8")
    model.save("model", overwrite=True)


if __name__ == "__main__":
    main()
