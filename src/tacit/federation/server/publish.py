"""Before the first round: charge the population's book. After the last: the model with its
statement."""

from __future__ import annotations

from pathlib import Path

from tacit.federation.protocol.task import Assembled
from tacit.federation.server.store import Store
from tacit.ledger.book.book import Receipt
from tacit.rounds.state import State


def reserve(
    made: Assembled,
    store: Store,
    book: tuple[str | None, str] | None,
    accept_unbounded: bool,
) -> Receipt | None:
    """Charge the plan once: a restart finds the receipt in the store."""
    import json

    from tacit.ledger.book.book import open_book

    task, budget = made.task, made.public.budget
    if book is None or budget is None:
        return None
    rows = store.now(
        lambda s: s.run("SELECT receipt FROM task WHERE id = ?", task.name)
    )
    if rows and rows[0][0]:
        return Receipt(**json.loads(rows[0][0]))
    receipt = open_book(*book).reserve(
        made.events.values(),
        unit=task.unit,
        budget=(budget.epsilon, budget.delta),
        purpose=task.purpose or f"federated {task.method}",
        method=task.method,
        limit=task.max_ratings,
        accept_unbounded=accept_unbounded,
    )
    text = json.dumps(
        {
            "population": receipt.population,
            "number": receipt.number,
            "hash": receipt.hash,
        }
    )
    from tacit.federation.agreed.expect import first_state
    from tacit.federation.protocol.wire import pack_state

    document, start = (
        task.model_dump_json().encode(),
        pack_state(first_state(made).packed()),
    )
    store.now(
        lambda s: s.run(
            "INSERT INTO task VALUES (?, ?, 0, ?, NULL, 0, NULL) ON CONFLICT DO NOTHING",
            task.name,
            document,
            start,
        )
    )
    store.now(
        lambda s: s.run("UPDATE task SET receipt = ? WHERE id = ?", text, task.name)
    )
    return receipt


def publish(
    made: Assembled,
    state: State,
    receipt: Receipt | None,
    out: Path,
    book: tuple[str | None, str] | None,
    private: bool,
    spoilt: int = 0,
) -> None:
    """Write the model folder, whole; a second time is no time. `spoilt` rounds were out of
    range, and for nothing."""
    from tacit.ledger.book.book import open_book
    from tacit.ledger.statement.statement import build_statement
    from tacit.model.model import Model

    if (out / "model.json").is_file():
        return
    shared = made.method.finish(made.public, state)
    task, budget = made.task, made.public.budget
    bounds = [
        f"{r.name}/{p.name}: {p.bound.words()}"
        for r in made.plan.rounds[:20]
        for p in r.parts
    ]
    most = max(
        sum(
            0 if one.sparse else one.size * one.width * one.word
            for one in made.layouts(index)
        )
        for index in range(min(len(made.plan.rounds), 20))
    )
    engine, noise = "federated", f"{task.enough} honest shares of the noise suffice"
    if made.method.local:
        engine, noise = "local", "each adds the noise of its own answer"
    statement = build_statement(
        method=task.method,
        unit=made.public.unit,
        engine=engine,
        events=tuple(made.events.values()),
        calibration=made.public.calibration,
        budget=(budget.epsilon, budget.delta) if budget else None,
        per_person=bounds,
        settings=[
            *made.plan.story,
            *(f"{k} = {v}" for k, v in made.method.settings.model_dump().items()),
            f"cohorts of {task.least} to {task.cohort} devices; {noise}",
            *(
                [f"a device sends up to {most:,} bytes in a round, whatever it rated"]
                if most
                else []
            ),
            *(
                [f"sums out of range, taken as nothing: {spoilt} rounds"]
                if spoilt
                else []
            ),
        ],
        public=[
            "the rating scale",
            "the catalogue of items",
            "the declared number of people",
            "who takes part",
        ],
        purpose=task.purpose,
        receipt=receipt,
        real_noise=private and bool(made.events),
        local=made.method.local,
    )
    if receipt is not None and book is not None:
        open_book(*book).commit(receipt, shared.digest())
    Model(shared, statement).save(out)
