"""Whether a model is what its statement says: against the book that was charged, or against
that book's public key.

A folder says of itself what its maker likes: digests show that it is whole, and nothing about
who made it. Guarantee: a verdict holds only for a statement that was signed, word for word,
for these very arrays (or for those that public features extended), by the key that is asked
about; with a book, also only if the charge stands in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.errors import DataError, ModelError, SettingError
from tacit.model.extend import BY_ITEM, EXTENDED, add_items
from tacit.model.shared import Shared
from tacit.page import paragraph
from tacit.validation import Suggesting, by_name, flag
from tacit.validation import model as asked_model
from tacit.validation import path as asked_path
from tacit.validation import text as asked_text

if TYPE_CHECKING:
    from tacit.ledger.book.book import Book
    from tacit.ledger.book.entry import Entry
    from tacit.ledger.statement.statement import Statement, Total
    from tacit.model.model import Model

CLOSE = 1e-3
"""Relative: a regression that is computed on another machine differs in its last digits,
more where features are nearly dependent."""


@dataclass(frozen=True, repr=False)
class ModelVerdict(Suggesting):
    """Result of a verification, check by check."""

    holds: bool
    words: str
    """What that means, or why it does not hold."""
    statement: Statement
    """Marked as checked if it holds."""
    extended: bool = False
    """Whether items were added by public features since it was paid for."""
    evaluations: int | None = None
    """Evaluations on these people that stand in the book before this release; None where
    no book was asked."""
    later: int = 0
    """Evaluations after it."""
    now: Total | None = None
    """What the population has spent today, by the book."""

    def __repr__(self) -> str:
        standing = "verified" if self.holds else "NOT VERIFIED"
        return f"ModelVerdict({standing}: {self.words})"

    def _repr_html_(self) -> str:
        return paragraph(repr(self), "" if self.holds else "notice")

    @by_name
    def page(
        self, *, audit: Sequence[Mapping[str, Any]] = (), markdown: bool = False, **declared: str
    ) -> str:
        """The statement as a document to forward, in HTML that stands alone or in Markdown.
        `declared` is what only the owner knows: `by`, `data`, `period`, `contact`, and so on
        (`tacit.ledger.statement.declared`)."""
        from tacit.ledger.statement.declared import declare
        from tacit.ledger.statement.document import document
        from tacit.ledger.statement.render import to_html, to_markdown

        flag("markdown", markdown)
        for name, text in declared.items():
            asked_text(name, text)
        _check_findings(audit)
        statement_page = document(
            self.statement,
            declare(declared),
            audit=audit,
            evaluations=self.evaluations,
            later=self.later,
            now=self.now,
            why="" if self.holds else self.words,
        )
        return to_markdown(statement_page) if markdown else to_html(statement_page)


def _check_findings(audit: object) -> None:
    """Refuse anything but the findings of an audit."""
    if not isinstance(audit, list | tuple) or not all(
        isinstance(finding, Mapping) for finding in audit
    ):
        raise SettingError(
            "audit is not a list of findings", remedy='give tacit.audit(...).facts()["findings"]'
        )


@by_name
def verify(
    model: Model, *, ledger: str | Path | None = None, key: str | Path | None = None
) -> ModelVerdict:
    """Verify that a model is what its statement describes: with the owner's public key if one is
    given, else with the ledger; with both if both are given."""
    from tacit.ledger.book.book import open_book
    from tacit.ledger.statement.sign import read_public_key

    model = asked_model(model)
    if key is not None:
        asked_path("key", key)
        verdict = verify_with_key(model, read_public_key(key))
        if ledger is None or not verdict.holds:
            return verdict
    population = model.statement.population or "default"
    return verify_with_book(model, open_book(ledger, population))


def verify_with_book(model: Model, book: Book) -> ModelVerdict:
    """Whole, unchanged, paid for, and the book not older than the statement."""
    from tacit.ledger.statement.ledger_check import check_against

    statement = model.statement
    in_book, sentences = check_against(statement, book)
    if not in_book:
        return _fails(sentences, statement)
    paid_model, why = _paid_model(model)
    entry = book.find(paid_model.digest())
    if entry is None or entry.number != statement.book_number:
        changed = why or (
            "its charge is in the book, but the book knows another model for it, or "
            "none: it was changed after it was written"
        )
        return _fails(changed, statement)
    verdict = _signed(model, paid_model, book.signer, sentences, "the book")
    if not verdict.holds:
        return verdict
    entries = book.entries()
    evaluation_numbers = [entry.number for entry in entries if entry.evaluation]
    earlier = sum(number < (statement.book_number or 0) for number in evaluation_numbers)
    return replace(
        verdict,
        evaluations=earlier,
        later=len(evaluation_numbers) - earlier,
        now=_today(statement, entries),
    )


def _today(statement: Statement, entries: Sequence[Entry]) -> Total | None:
    """The total of today, at the delta that the statement has it at."""
    from tacit.ledger.book.receipts import running
    from tacit.ledger.statement.composed import total_of

    if statement.total is None:
        return None
    return total_of(running(entries, statement.unit, statement.total.delta))


def verify_with_key(model: Model, key: str) -> ModelVerdict:
    """Signed by the holder of this key, for these arrays. No book is asked, so nothing is
    known about what was spent besides."""
    paid_model, why = _paid_model(model)
    if why:
        return _fails(why, model.statement)
    sentences = "signed by the key that was given; not checked against a book"
    return _signed(model, paid_model, key, sentences, "a key")


def _signed(
    model: Model, paid_model: Shared, key: str, sentences: str, against: str
) -> ModelVerdict:
    from tacit.ledger.statement.sign import check_signature

    statement = model.statement
    try:
        signer = check_signature(statement, paid_model.digest())
    except ModelError as error:
        return _fails(error.message, statement)
    if signer is None:
        return _fails("nobody has signed the statement", statement)
    if signer != key:
        return _fails("the statement was signed by another key", statement)
    extended = is_extended(model.shared)
    if extended:
        added = len(model.shared.catalogue) - len(paid_model.catalogue)
        sentences = (
            f"extended from entry {statement.book_number} by public features "
            f"({added:,} more items), which is {sentences}"
        )
    if statement.certified != "certified":
        sentences += f"; {statement.certified}, not certified"
    checked = statement.with_check(against)
    return ModelVerdict(True, sentences, checked, extended)


def _fails(why: str, statement: Statement) -> ModelVerdict:
    return ModelVerdict(False, why, statement.with_check(None))


def _paid_model(model: Model) -> tuple[Shared, str]:
    """The model that was paid for, or this one and why that cannot be had."""
    try:
        return paid_for(model.shared), ""
    except ModelError as error:
        return model.shared, error.message


# From a model that was extended by public features back to the one that was paid for.
#
# An extended model keeps, for every extension, the digest of the model before it and how many
# items that one had. Its arrays hold the earlier ones as their first rows, so the earlier model
# is cut out of it, known again by its digest, and extended anew: if that gives the model at
# hand, nothing but public features was added to what was paid for.


def is_extended(shared: Shared) -> bool:
    """Whether items were added from public features."""
    return bool(shared.settings.get(EXTENDED))


def paid_for(shared: Shared) -> Shared:
    """The model that was paid for: this one, or the one it was extended from, if every
    extension is what `add_items` gives; else an error."""
    while is_extended(shared):
        previous = _previous(shared)
        _check(previous, shared)
        shared = previous
    return shared


def _previous(shared: Shared) -> Shared:
    """The model that the last extension started from."""
    *earlier_steps, last_step = _steps(shared.settings[EXTENDED])
    count, titled = last_step["items"], last_step["titled"]
    if not 0 < count < len(shared.catalogue):
        raise _wrong("it names more items than the model has")
    settings = {k: v for k, v in shared.settings.items() if k != EXTENDED}
    if earlier_steps:
        settings[EXTENDED] = earlier_steps
    previous = replace(
        shared,
        arrays={
            name: array[:count] if name in BY_ITEM else array
            for name, array in shared.arrays.items()
        },
        catalogue=_rows(shared.catalogue, slice(count), titled=titled),
        settings=settings,
    )
    if previous.digest() != last_step["from"]:
        raise _wrong("its first items are not those of the model that it names")
    return previous


def _check(previous: Shared, extended: Shared) -> None:
    """Whether one model is the other, extended by public features."""
    added = _rows(extended.catalogue, slice(len(previous.catalogue), None))
    try:
        anew = add_items(previous, added)
    except (DataError, SettingError, LookupError, TypeError, ValueError) as error:
        raise _wrong(f"it cannot be made again ({type(error).__name__})") from None
    same = set(anew.arrays) == set(extended.arrays) and all(
        array.shape == extended.arrays[name].shape
        and np.allclose(
            array.astype(np.float64),
            extended.arrays[name].astype(np.float64),
            rtol=CLOSE,
            atol=CLOSE * max(1e-9, float(np.abs(array).max(initial=0.0))),
        )
        for name, array in anew.arrays.items()
    )
    if not same:
        raise _wrong("its new items are not what their public features give")


def _rows(catalogue: Catalogue, rows: slice, *, titled: bool = True) -> Catalogue:
    def cut(array: Any) -> Any:
        return None if array is None else array[rows]

    return Catalogue(
        list(catalogue.ids)[rows],
        list(catalogue.titles)[rows] if catalogue.titles and titled else None,
        cut(catalogue.years),
        catalogue.tags,
        cut(catalogue.tagged),
        catalogue.numbers,
        cut(catalogue.numeric),
    )


def _steps(steps: Any) -> list[Mapping[str, Any]]:
    """The extensions that a folder names, if they are in the form that we write."""
    if not isinstance(steps, list) or not all(map(_is_step, steps)):
        raise _wrong("what it says of its extensions cannot be read")
    return steps


def _is_step(step: Any) -> bool:
    return (
        isinstance(step, dict)
        and set(step) == {"from", "items", "titled"}
        and isinstance(step["from"], str)
        and isinstance(step["titled"], bool)
        and type(step["items"]) is int
    )


def _wrong(why: str) -> ModelError:
    return ModelError(
        f"the model is not an extension by public features: {why}",
        remedy="make it again with `tacit add-items` from the model that was paid for",
    )
