"""`evaluate --release`: how good a published model is, as noisy figures that are charged.

The model must be one that the book of this population was charged for (a metric of any other
would release its fit), and the ratings that are predicted were kept apart from that fit.
Guarantee: what is published is a function of one round of noised sums; each person's part in
them follows from the model and her own ratings, bounded (docs/proofs/release.md). The book is
charged in one transaction before any noise is drawn, and its total adds the figures to the
fit: nothing is saved by the ratings being others, since the people are the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.atomic_write import open_atomic
from tacit.data.catalogue import Catalogue
from tacit.data.inputs import read_already
from tacit.data.ratings import aligned
from tacit.errors import ModelError, SettingError
from tacit.evaluation.figures import Figure, Law, figure_records, figures
from tacit.evaluation.summed import FigureSums, MeasuredMethod, MeasuredSettings
from tacit.fitting.charge import pay, settle_or_warn, stays_charged
from tacit.fitting.check import check
from tacit.fitting.publish import StatementInputs
from tacit.fitting.run import _Run
from tacit.ledger.statement.statement import Statement
from tacit.validation import by_name
from tacit.validation import model as asked_model

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.fitting.order import Order
    from tacit.ledger.book.book import Book
    from tacit.model.model import Model
    from tacit.rounds.options import Progress

FITTED = "fit the model with --keep-apart 10%, which charges the book and keeps ratings apart"


PARTS = {"rmse": "errors", "recall": "hits", "coverage": "lists"}
"""Which sums each figure is made of."""


@dataclass(frozen=True)
class Release:
    """Published figures about a model, and what was promised for them."""

    model: str
    """Digest of the model."""
    figures: tuple[Figure, ...]
    statement: Statement

    @property
    def digest(self) -> str:
        """What the ledger knows these figures by."""
        return _digest(self.model, self.figures)

    def __getitem__(self, name: str) -> Figure:
        return next(figure for figure in self.figures if figure.name == name)

    def to_facts(self) -> dict[str, Any]:
        """For JSON: all of it may be published."""
        return {
            "model": self.model,
            "figures": figure_records(self.figures),
            "statement": json.loads(self.statement.to_json()),
        }

    def save(self, path: str | Path) -> None:
        """One JSON file."""
        text = json.dumps(self.to_facts(), indent=2, sort_keys=True)
        with open_atomic(path, durable=True) as file:
            file.write(text.encode() + b"\n")

    def __str__(self) -> str:
        lines = [f"{figure.name}: {_render_figure(figure)}" for figure in self.figures]
        return "\n".join([*lines, "", str(self.statement)])


@by_name
def release(
    model: Model,
    ratings: Ratings,
    *,
    epsilon: float,
    users: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Release:
    """Publish how well `model` predicts and lists, over ratings that its fit did not see.

    `options` are those of a method (`delta`, `ledger`, `population`, `purpose`, `threads`) and
    what is asked: `only` some of `rmse`, `recall` and `coverage`, which then have the whole
    budget; `places` of a list, `most` ratings of a person, `liked` (a rating of the ratings'
    own scale from which an item is relevant).
    """
    fitted = asked_model(model)
    order = ordered(fitted, epsilon=epsilon, users=users, **options)
    data = read_already(ratings)
    return publish(order, data, users=users, progress=progress)


def ordered(model: Model, *, epsilon: float, users: int | None = None, **options: Any) -> Order:
    """A checked request, before a rating is read."""
    promise = model.statement
    _check_options(promise, options)
    schema = model.shared.schema
    liked = options.pop("liked", None)
    if liked is not None:
        options["liked"] = (liked - schema.middle) / schema.unit_width
    likes = schema.positive is not None
    options["parts"] = _parts(options.pop("only", None), likes)
    if likes:
        options["liked"] = -2.0
    method = MeasuredMethod(
        model,
        epsilon=epsilon,
        **{"population": promise.population or "default", **options},
        **({} if "unit" in options else {"unit": promise.unit}),
    )
    order = check(method, people=users or schema.users)
    _check_model(order, model)
    return order


def publish(
    order: Order, ratings: Ratings, *, users: int | None = None, progress: Progress | None = None
) -> Release:
    """Charge, draw, publish."""
    method = order.method
    assert isinstance(method, MeasuredMethod)
    model = method.about
    run = _Run(
        method,
        doubled(model, ratings),
        None,
        users or model.shared.schema.users,
        progress,
        order=order,
    )
    run.rehearse()
    about = replace(order, start=model)
    number = model.statement.book_number
    payment = pay(
        about,
        run.engine.fingerprint(),
        tuple(run.charged),
        run.public.schema.max_ratings,
        order.how.purpose or f"figures about entry {number}",
    )
    with stays_charged(payment.receipt):
        sums = run.released(entry=payment.receipt.hash)
    assert isinstance(sums, FigureSums)
    assert order.budget is not None
    law: Law = "laplace" if order.budget.delta == 0 else "gaussian"
    settings = method.settings
    assert isinstance(settings, MeasuredSettings)
    released_figures = figures(sums, settings, law, model.shared.schema.unit_width)
    facts = StatementInputs(
        order,
        run.public,
        run.settled.plan,
        run.events,
        used=method.used(run.settled.public),
        declared_items=True,
        published="figures",
    )
    statement = facts.statement(run.engine, payment, private=run.private, charged=run.charged)
    digest = model.shared.digest()
    promise = settle_or_warn(
        order.book, payment.receipt, statement, _digest(digest, released_figures)
    )
    return Release(digest, released_figures, promise)


def doubled(model: Model, ratings: Ratings) -> Ratings:
    """The ratings over the model's items, each twice: as seen and as kept apart."""
    shared = model.shared
    model_schema, ratings_schema = shared.schema, ratings.schema
    if (model_schema.low, model_schema.high, model_schema.positive) != (
        ratings_schema.low,
        ratings_schema.high,
        ratings_schema.positive,
    ):
        raise SettingError(
            f"the model has the scale {model_schema.low:g},{model_schema.high:g}, the ratings have "
            f"{ratings_schema.low:g},{ratings_schema.high:g}, or other likes",
            remedy="read the ratings as they were read for the fit (--scale, --positive)",
        )
    held_out = model.statement.apart
    assert held_out is not None
    over = aligned(ratings, Catalogue(list(shared.catalogue.ids)))
    return held_out.doubled(over)


def verify_release(release: Release, book: Book) -> tuple[bool, str]:
    """Whether these figures are the ones that this book was charged for, and why."""
    from tacit.ledger.statement.ledger_check import check_against

    holds, explanation = check_against(release.statement, book)
    if not holds:
        return False, explanation
    entry = book.find(release.digest)
    if entry is None or entry.number != release.statement.book_number:
        return False, "the book knows other figures for this charge, or none"
    signed, why = signed_by(release, book.signer)
    return signed, explanation if signed else why


def signed_by(release: Release, key: str) -> tuple[bool, str]:
    """Whether the holder of this key made these very figures, and why."""
    from tacit.ledger.statement.sign import check_signature

    try:
        signer = check_signature(release.statement, release.digest)
    except ModelError as error:
        return False, error.message
    if signer != key:
        return False, "the statement was signed by another key, or by nobody"
    return True, "signed by the key that was given; not checked against a book"


def load_release(path: str | Path) -> Release:
    """Figures from the file that `save` wrote."""
    try:
        facts = json.loads(Path(path).read_text("utf-8"))
        return Release(
            facts["model"],
            tuple(Figure(**record) for record in facts["figures"]),
            Statement.from_json(json.dumps(facts["statement"])),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise ModelError(
            "this file is neither a model's folder nor figures that `tacit evaluate --release` "
            "wrote",
            place=str(path),
            remedy="give the folder of a model, or the file of --figures, whole",
        ) from None


def _parts(only: Sequence[str] | None, likes: bool) -> tuple[str, ...]:
    """The sums that the figures need; a model of likes predicts no ratings."""
    can = {name: part for name, part in PARTS.items() if not likes or name != "rmse"}
    requested = list(can) if only is None else list(only)
    unknown = [name for name in requested if name not in can]
    if unknown or not requested:
        raise SettingError(
            f"there is no figure {', '.join(unknown) or 'asked for'}",
            remedy=f"ask for {', '.join(can)}",
        )
    return tuple(part for name, part in can.items() if name in requested)


def _check_options(promise: Statement, options: dict[str, Any]) -> None:
    """What the model's own statement settles cannot be said otherwise."""
    unit = options.get("unit")
    if unit is None:
        options.pop("unit", None)
    elif unit != promise.unit:
        raise SettingError(
            f"the model promises its people something for each {promise.unit}: figures about "
            f"it for each {unit} would not keep that",
            remedy="leave --unit out",
        )
    population = options.get("population")
    if population is None:
        options.pop("population", None)
    elif population != (promise.population or population):
        raise SettingError(
            f"the model was charged to the population {promise.population!r}, not to "
            f"{population!r}",
            remedy="leave --population out",
        )
    if promise.certified != "certified":
        raise SettingError(
            f"the model is not certified ({promise.reason}): figures about it would release "
            "what it holds",
            remedy=FITTED,
        )
    if promise.apart is None:
        raise SettingError(
            "the fit of this model has kept no ratings apart, so it has seen all of them",
            remedy=FITTED,
        )


def _check_model(order: Order, model: Model) -> None:
    """The very artefact of an entry of this population's book."""
    from tacit.model.verify import verify_with_book

    verdict = verify_with_book(model, order.book)
    if not verdict.holds:
        raise SettingError(
            f"the ledger does not know this model: {verdict.words}",
            remedy="give the ledger that paid for it (--ledger), or fit it with that ledger",
        )
    if verdict.extended:
        raise SettingError(
            "the model was extended by `tacit add-items` since it was charged",
            remedy="give the model as `tacit fit` wrote it",
        )


def _digest(model: str, figures: tuple[Figure, ...]) -> str:
    text = json.dumps(
        {"model": model, "figures": figure_records(figures)}, sort_keys=True, separators=(",", ":")
    )
    return sha256(text.encode()).hexdigest()


def _render_figure(figure: Figure) -> str:
    """A figure with its interval, in words."""
    if figure.name.startswith("listed"):
        return f"at least {figure.low:.3f} ({figure.words})"
    value = "–" if figure.value is None else f"{figure.value:.3f}"
    return f"{value} [{figure.low:.3f}, {figure.high:.3f}] ({figure.words})"
