"""`tacit demo`: the one-minute tour."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tacit.cli.grouped import Command
from tacit.cli.options import json_option
from tacit.cli.show import print_json, progress, reason, say, stars, table

if TYPE_CHECKING:
    from tacit.model.model import Model
    from tacit.model.person.results import Recommendation

LISTED = 8
"""Lines of each list."""


class DemoPerson(NamedTuple):
    """Somebody whom we made up, so that a stranger can judge the list."""

    name: str
    about: str
    likes: tuple[str, ...]
    """Genres."""
    ratings: dict[str, float]


PEOPLE = (
    DemoPerson(
        "Ada",
        "crime, noir and mysteries, and no love stories",
        ("Crime", "Noir", "Mystery"),
        {
            "The Godfather": 5.0,
            "Pulp Fiction": 5.0,
            "Goodfellas": 5.0,
            "Chinatown": 4.0,
            "Titanic": 2.0,
            "The Notebook": 1.0,
        },
    ),
    DemoPerson(
        "Ben",
        "what the whole family can watch and sing, and nothing that frightens",
        ("Animation", "Family", "Musical"),
        {
            "The Lion King": 5.0,
            "Toy Story": 5.0,
            "Mary Poppins": 5.0,
            "Finding Nemo": 4.0,
            "The Silence of the Lambs": 2.0,
            "Alien": 1.0,
        },
    ),
    DemoPerson(
        "Cleo",
        "other worlds, with spaceships or with dragons",
        ("Science Fiction", "Fantasy"),
        {
            "Blade Runner": 5.0,
            "Star Wars": 5.0,
            "The Matrix": 5.0,
            "Back to the Future": 4.0,
            "Casablanca": 3.0,
            "Titanic": 2.0,
        },
    ),
)


@click.command(cls=Command)
@click.option(
    "--epsilon", type=float, default=1.0, show_default=True, help="The budget of the demonstration."
)
@click.option(
    "--out", metavar="FOLDER", help="Keep the model, its ledger and its statement in a new folder."
)
@json_option
def demo(epsilon: float, out: str | None, as_json: bool) -> None:
    """Fit on invented people, recommend to three of them, say what is promised."""
    import tempfile

    from tacit.errors import SettingError

    if out is not None and Path(out).exists():
        raise SettingError("it exists already", place=out, remedy="name a new folder for --out")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) if out is None else Path(out)
        target.mkdir(parents=True, exist_ok=True)
        model, data = fit_demo(target / "ledger.sqlite", epsilon, quiet=as_json)
        if out is not None:
            _keep(model, target)
    lists = {person.name: model.recommend(person.ratings, LISTED) for person in PEOPLE}
    if as_json:
        _as_json(model, data, lists)
        return
    say(
        f"2. The model: `{model.shared.method}`, fitted at epsilon {epsilon:g} for a whole "
        "person. It may be published."
    )
    say(
        "3. Three people whom it has never seen. Each list is computed on its owner's side, "
        "from the published model and her or his own ratings, and costs no budget. What "
        "suits one's own taste comes before what everybody likes."
    )
    for person in PEOPLE:
        _show(model, person, lists[person.name])
    _promise(model)
    _better_list(model)
    _next(out)


def fit_demo(book: Path, epsilon: float, *, quiet: bool = True) -> tuple[Model, str]:
    """A model of the demonstration's audience with a book of its own, and what it is of."""
    from tacit.data.audience import audience
    from tacit.data.sample import sample_catalogue
    from tacit.fitting.run import fit
    from tacit.methods import DEFAULT, find
    from tacit.notices import unnoted

    items, ratings = sample_catalogue(), audience()
    data = (
        f"{len(items)} real films, {ratings.n_users:,} invented people, "
        f"{len(ratings):,} made-up ratings"
    )
    if not quiet:
        say(f"1. The data: {data}.")
    method = find(DEFAULT)(
        epsilon=epsilon, population="demo", purpose="demonstration", ledger=str(book)
    )
    with progress("fit") as bar, unnoted():
        model = fit(method, ratings, items=items, users=ratings.n_users, progress=bar)
    return model, data


def _keep(model: Model, folder: Path) -> None:
    """The model beside its book, with the statement as a document."""
    from tacit.cli.promise import ask
    from tacit.cli.statement import write_document

    model.save(folder / "model")
    book = str(folder / "ledger.sqlite")
    declared = {
        "name": "the demonstration",
        "data": "made-up ratings of real films by invented people",
        "decided": "the demonstration, to show what epsilon 1 buys",
    }
    write_document(ask(model, book, None), declared, folder / "statement.html")


def _as_json(model: Model, data: str, lists: Mapping[str, list[Recommendation]]) -> None:
    people = [
        {
            "name": person.name,
            "likes": person.likes,
            "ratings": person.ratings,
            "recommendations": [line.__dict__ for line in lists[person.name]],
        }
        for person in PEOPLE
    ]
    print_json({"data": data, "people": people, "statement": model.statement.to_facts()})


def _show(model: Model, person: DemoPerson, lines: list[Recommendation]) -> None:
    rated = ", ".join(f"{film} {stars:g}" for film, stars in person.ratings.items())
    say(f"\n   {person.name} likes {person.about}. Rated: {rated}.\n")
    rows = [
        [
            rank,
            line.title,
            ", ".join(genres(model, line.item)),
            stars(line.rating or 0.0, line.error or 0.0),
            reason(line),
        ]
        for rank, line in enumerate(lines, 1)
    ]
    table(["", "item", "genres", "expected", "because you rated"], rows)


def genres(model: Model, item: str) -> list[str]:
    """The public genres of one film."""
    catalogue = model.shared.catalogue
    if catalogue.tagged is None:
        return []
    row: Any = catalogue.tagged[catalogue.index[item]]
    return [tag for tag, has in zip(catalogue.tags, row, strict=True) if has]


def _promise(model: Model) -> None:
    from tacit.ledger.account.odds import attacker

    s = model.statement
    sentence = attacker(s.events, s.unit, s.delta)["words"]
    say(f"\n4. The promise: {s.standing.upper()}.")
    say(
        f"   The published model is ({s.epsilon:g}, {s.delta:g})-differentially private for "
        "a whole person with all of that person's ratings."
    )
    say(f"   {sentence}")
    say("   It was charged to a ledger before any noise was drawn.")


def _better_list(model: Model) -> None:
    from tacit.methods import find

    advice = find(model.shared.method).better_list
    if advice:
        say(f"\n5. What it is not best at: {advice}.")


def _next(out: str | None) -> None:
    """What to do with it, each command beside what it is for."""
    steps = [
        ("tacit serve --demo", "this model as a page in your browser"),
        ("tacit demo --out demo", "the same tour, its model kept"),
    ]
    if out is not None:
        book = f"--ledger {out}/ledger.sqlite"
        steps = [
            (f"tacit serve {out}/model {book}", "as a page in your browser"),
            (f"{out}/statement.html", "the promise as a document"),
        ]
    steps += [
        ("tacit fit RATINGS --scale 1,5 --epsilon 1 --out MODEL", "with your own table"),
        ("tacit --help", "all commands"),
    ]
    width = max(len(command) for command, _ in steps)
    say("\nNext:")
    for command, purpose in steps:
        say(f"  {command:<{width}}  {purpose}")
