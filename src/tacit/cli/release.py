"""`tacit evaluate --release`: options and output of figures that may be published."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tacit.cli.options import as_written, note_reading, parse_columns, several
from tacit.cli.overwrite import may_write
from tacit.cli.show import print_json, progress, say, table
from tacit.errors import SettingError, StorageError

if TYPE_CHECKING:
    from tacit.evaluation.release import Release
    from tacit.model.model import Model

F = TypeVar("F", bound=Callable[..., Any])
PASSED = ("ledger", "threads", "places", "most")
"""Options of the command that are taken as they are, where they were said."""

release_options: Callable[[F], F] = several(
    click.option(
        "--release",
        is_flag=True,
        help="Publish figures about --model instead: noisy and charged (docs/release.md).",
    ),
    click.option(
        "--model",
        metavar="MODEL",
        help="With --release: a model of this ledger, fitted with --keep-apart.",
    ),
    click.option(
        "--only",
        metavar="A,B",
        help="With --release: some of rmse, recall, coverage, for the whole budget.",
    ),
    click.option(
        "--places",
        type=click.IntRange(1, 100),
        metavar="N",
        help="With --release: items of a list, 20 unless said.",
    ),
    click.option(
        "--most",
        type=click.IntRange(1, 1000),
        metavar="K",
        help="With --release: ratings of a person that are predicted, 10 unless said.",
    ),
    click.option(
        "--liked",
        type=float,
        metavar="MIN",
        help="With --release: from which rating an item is relevant, 4 on 1..5.",
    ),
    click.option(
        "--figures",
        metavar="FILE",
        help="With --release: write the figures and their statement there, as JSON.",
    ),
)


def run_release(ratings: str, options: dict[str, Any], *, as_json: bool) -> None:
    """Charge the ledger and publish figures about a model. Bad use fails before a rating is
    read."""
    from tacit.evaluation.release import ordered, publish
    from tacit.fitting.check import check_funds
    from tacit.model.model import load

    if not options.get("model"):
        raise SettingError(
            "--release needs the model that the figures are about",
            remedy="give --model MODEL, which `tacit fit --keep-apart 10%` wrote",
        )
    if options["figures"]:
        may_write(options["figures"], options["overwrite"], "--figures")
    model = load(options["model"])
    settings = {name: options[name] for name in PASSED if options.get(name)}
    if options.get("units"):
        settings["unit"] = options["units"]
    if options.get("delta") is not None:
        settings["delta"] = options["delta"]  # 0 asks for a pure mechanism
    if options.get("liked") is not None:
        settings["liked"] = options["liked"]
    if options.get("only"):
        settings["only"] = [name.strip() for name in options["only"].split(",")]
    if options.get("population") not in (None, "default"):
        settings["population"] = options["population"]
    order = ordered(
        model, epsilon=_parse_epsilon(options["epsilons"]), users=options.get("users"), **settings
    )
    check_funds(order)
    data = _read_ratings(ratings, model, options)
    with progress("evaluate --release") as bar:
        release = publish(order, data, users=options.get("users"), progress=bar)
    if options.get("figures"):
        try:
            release.save(options["figures"])
        except StorageError as error:  # they were paid for, and are nowhere else
            print_json(release.to_facts())
            promise = release.statement
            raise StorageError(
                f"{error.message}; entry {promise.book_number} of {promise.population!r} stays "
                "charged, and the figures are in the lines that were printed",
                remedy="write these lines to a file: they are what --figures would hold",
            ) from None
    if as_json:
        print_json(release.to_facts())
    else:
        _print(release)


def verify_figures(path: str, key: str | None, ledger: str | None, *, as_json: bool) -> None:
    """Whether a file of figures is what the holder of a key signed, and what the book was
    charged for; the book is not asked where only a key is given."""
    from tacit.evaluation.release import load_release, signed_by, verify_release
    from tacit.ledger.book.book import open_book
    from tacit.ledger.statement.sign import read_public_key

    release = load_release(path)
    is_valid, reason = True, ""
    if key is not None:
        is_valid, reason = signed_by(release, read_public_key(key))
    if is_valid and (key is None or ledger is not None):
        book = open_book(ledger, release.statement.population or "default")
        is_valid, reason = verify_release(release, book)
    if as_json:
        print_json({"verified": is_valid, "words": reason})
    else:
        say(f"{'verified' if is_valid else 'NOT VERIFIED'}: {reason}")
    if not is_valid:
        raise SystemExit(1)


def _read_ratings(ratings: str, model: Model, options: dict[str, Any]) -> Any:
    """The ratings as the fit read them: over the model's items, on its scale."""
    from tacit.data.catalogue import Catalogue
    from tacit.data.read import read
    from tacit.data.reading.columns import of_ratings
    from tacit.data.schema import LIKES

    schema = model.shared.schema
    likes = schema.source == LIKES
    data = read(
        ratings,
        None if likes else (schema.low, schema.high),
        items=Catalogue(list(model.shared.catalogue.ids)),
        duplicates=options["duplicates"],
        positive=True if likes else schema.positive,
        layout=options["layout"],
        columns=of_ratings(parse_columns(options["columns"] or ())),
        **as_written(options),
    )
    note_reading(data, options["duplicates"])
    return data


def _parse_epsilon(text: str) -> float:
    """One budget, and not a list of them."""
    try:
        return float(text)
    except ValueError:
        raise SettingError(
            f"--epsilon {text} is not one number",
            remedy="figures are released at one epsilon, such as .1",
        ) from None


def _print(release: Release) -> None:
    promise = release.statement
    rows = [
        [
            figure.name,
            None if figure.value is None else f"{figure.value:.3f}",
            f"{figure.low:.3f}",
            f"{figure.high:.3f}",
        ]
        for figure in release.figures
    ]
    table(["figure", "value", "from", "to"], rows)
    for figure in release.figures:
        say(f"{figure.name}: {figure.words}")
    say(
        "\nintervals of 90 %: where the figure would lie for these people without noise.\n"
        f"({promise.epsilon:g}, {promise.delta:g})-differentially private, unit "
        f"{promise.unit}; charged as entry {promise.book_number} of "
        f"{promise.population!r}"
    )
    if promise.total is not None:
        say(
            f"in all {promise.population!r} has spent epsilon "
            f"{promise.total.epsilon:.4g} at delta {promise.total.delta:g}"
        )
