"""Before the first round: charge the population's book. After the last: the model with its
statement."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from tacit.errors import StorageError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.server.rounds import Rounds
from tacit.fitting.charge import running_total, settle, twice
from tacit.fitting.publish import public_scale
from tacit.ledger.book.book import Receipt, open_book
from tacit.ledger.statement.statement import Honesty
from tacit.methods import origin
from tacit.rounds.state import State

FIRST_ROUNDS = 20
"""Rounds that a statement lists; thousands of them are alike."""


@dataclass(frozen=True)
class Charged:
    """The book that is charged: its place, its population, and whether it may hold what
    nothing bounds."""

    location: str | None
    population: str
    accept_unbounded: bool = False


def is_published(out: Path) -> bool:
    """Whether the model is there, whole."""
    return (out / "model.json").is_file()


def check_unused(out: Path) -> None:
    """Refuse, before a new training is charged, a folder that holds the model of another: it
    would be taken for this one's, and what devices paid for would be written nowhere."""
    if is_published(out):
        raise StorageError(
            f"{out} holds a model of another training",
            remedy="choose another --out, or move that model away",
        )


def reserve(rounds: Rounds, book: Charged | None) -> Receipt | None:
    """Charge the plan once.

    A restart finds the receipt in the store. Before the book is asked, the store holds the
    name of the request: a recommender that dies between the charge and its receipt asks
    again under that name, and the book answers with the entry that it made.
    """
    assembled = rounds.made
    task, budget = assembled.task, assembled.public.budget
    if book is None or budget is None:
        return None
    receipt_facts = json.loads(rounds.receipt() or "{}")
    if "hash" in receipt_facts:
        return Receipt(**receipt_facts)
    if "token" not in receipt_facts:
        # Not the task's name alone: the same task may be trained again, and is paid again.
        receipt_facts["token"] = f"{task.name}:{secrets.token_hex(16)}"
        rounds.keep_receipt(json.dumps(receipt_facts))
    opened = open_book(book.location, book.population)
    receipt = twice(
        lambda: opened.reserve(
            assembled.events.values(),
            unit=task.unit,
            budget=(budget.epsilon, budget.delta),
            purpose=task.purpose or f"federated {task.method}",
            method=task.method,
            limit=task.max_ratings,
            accept_unbounded=book.accept_unbounded,
            relation="record" if assembled.method.local else "participant",
            token=receipt_facts["token"],
        )
    )
    rounds.keep_receipt(json.dumps(asdict(receipt)))
    return receipt


def publish(
    assembled: Assembled,
    state: State,
    receipt: Receipt | None,
    out: Path,
    book: Charged | None,
    spoilt: int = 0,
    enrolment: tuple[str, str] = ("", ""),
) -> None:
    """Write the model folder, whole; a second time is no time. `spoilt` rounds were out of
    range, and for nothing. `enrolment` is how each server says that it enrols."""
    from tacit.ledger.statement import words
    from tacit.ledger.statement.statement import build_statement
    from tacit.model.model import Model

    if is_published(out):
        return
    shared = assembled.method.finish(assembled.public, state)
    task, budget = assembled.task, assembled.public.budget
    opened = total = None
    if receipt is not None and book is not None and budget is not None:
        opened = open_book(book.location, book.population)
        total = running_total(opened, receipt, assembled.public.unit, budget.delta)
    whose = origin(type(assembled.method))
    statement = build_statement(
        method=task.method,
        outside=words.outside(whose, words.DEVICES) if whose else (),
        honest=_honesty(assembled, enrolment),
        unit=assembled.public.unit,
        engine="local" if assembled.method.local else "federated",
        events=tuple(assembled.events.values()),
        calibration=assembled.public.calibration,
        budget=(budget.epsilon, budget.delta) if budget else None,
        per_person=[
            f"{r.name}/{p.name}: {p.bound.words()}"
            for r in assembled.plan.rounds[:FIRST_ROUNDS]
            for p in r.parts
        ],
        settings=_settings(assembled, spoilt),
        public=[
            *public_scale(assembled.public.schema),
            "the catalogue of items",
            "the declared number of people",
            "who takes part",
        ],
        purpose=task.purpose,
        receipt=receipt,
        real_noise=bool(assembled.events),
        local=assembled.method.local,
        total=total,
        likes=assembled.public.schema.positive is not None,
    )
    if receipt is not None and opened is not None:
        statement = settle(opened, receipt, statement, shared.digest())
    Model(shared, statement).save(out)


def _honesty(assembled: Assembled, enrolment: tuple[str, str]) -> Honesty | None:
    """Who must be honest; in the local model nobody."""
    if assembled.method.local:
        return None
    enough = assembled.task.enough
    return Honesty(assembled.task.noise, f"at least {enough} honest devices", enough, enrolment)


def _settings(assembled: Assembled, spoilt: int) -> list[str]:
    """How the training was set up and what came of it, in sentences."""
    task = assembled.task
    noise = f"{task.enough} honest shares of the noise suffice"
    if task.noise == "servers":
        noise = "each server adds the noise by itself, devices none"
    if task.noise == "both":
        noise += ", and each server adds it by itself"
    if assembled.method.local:
        noise = "each adds the noise of its own answer"
    listed = min(len(assembled.plan.rounds), FIRST_ROUNDS)
    max_bytes = max(assembled.bytes_of(index) for index in range(listed))
    settings = assembled.method.settings.model_dump()
    out = [*assembled.plan.story, *(f"{name} = {value}" for name, value in settings.items())]
    out.append(f"cohorts of {task.least} to {task.cohort} devices; {noise}")
    if max_bytes:
        out.append(f"a device sends up to {max_bytes:,} bytes in a round, whatever it rated")
    if task.groups > 1:
        out.append(
            f"a round has up to {task.groups} sums, each over at least {task.least} devices "
            "and with noise of its own; those out of range are left out, and their devices "
            "sit out the rest"
        )
    if spoilt:
        out.append(f"sums out of range, taken as nothing: {spoilt} rounds")
    return out
