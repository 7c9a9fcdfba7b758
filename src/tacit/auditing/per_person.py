"""Is each person computed alone? What somebody adds to every round of a plan, in several
companies: in a block of all, by herself, in another order, and among people who rate
otherwise. Bit for bit.

And is what is published made of what was released alone? The same releases are absorbed once
more while others contribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.walk import Walk, walk
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.engine.blocks import Piece, block_of
from tacit.engine.per_person import OnesShare, is_checked, only, told_alone, told_by
from tacit.methods.base import Method
from tacit.rounds.round import Block, Kind, Round
from tacit.units import Unit

WATCHED = 12
"""People who are followed, spread over all."""
SEED = 5


@dataclass(frozen=True)
class Company:
    """In what company people are computed."""

    words: str
    ratings: Ratings
    people: NDArray[np.int64] | None = None
    """In which order; None for that of the ratings."""
    singly: bool = False


def not_alone(
    method: Method, ratings: Ratings, items: Catalogue, *, users: int, noise: bool = True
) -> list[str]:
    """Where what a person adds depends on anybody else, in words; nothing is well."""
    walked = walk(method, ratings, items, users=users, noise=noise)
    data = walked.ratings
    watched = np.unique(np.linspace(0, data.n_users - 1, WATCHED).astype(np.int64))
    unit = walked.run.order.unit
    rng = np.random.default_rng(SEED)
    companies = (
        Company("among all", data),
        Company("by herself", data, singly=True),
        Company("in another order", data, rng.permutation(data.n_users)),
        Company("among other people", among_others(data, watched, unit, rng)),
    )
    first, *rest = [dict(_followed(walked, company, watched)) for company in companies]
    faults = []
    for company, shares in zip(companies[1:], rest, strict=True):
        for (name, person), mine in shares.items():
            if mine is None or not mine.same(_checked_share(first[name, person])):
                faults.append(f"{name}: {company.words}")
    return list(dict.fromkeys(faults))


def depends_on_others(method: Method, ratings: Ratings, items: Catalogue, *, users: int) -> bool:
    """Whether the same releases give another model where other people contribute."""
    walked = walk(method, ratings, items, users=users)
    model_digest = method.finish(walked.run.public, walked.last).digest()
    data = walked.ratings
    nobody = np.zeros(0, np.int64)
    rng = np.random.default_rng(SEED)
    other_people = among_others(data, nobody, walked.run.order.unit, rng)
    state = walked.steps[0].state
    for round_, step in zip(walked.plan().rounds, walked.steps, strict=True):
        if step.released is not None:
            block = _block(other_people, slice(0, other_people.n_users), round_, {})
            round_.contribute(block, state)
            state = round_.absorb(state, step.released)
    return method.finish(walked.run.public, state).digest() != model_digest


def among_others(
    ratings: Ratings, same: NDArray[np.int64], unit: Unit, rng: np.random.Generator
) -> Ratings:
    """The same few people, and everybody else with other values; and with other items too,
    where who rated what is not public."""
    theirs = ~np.isin(ratings.user, same)
    low, high = ratings.schema.low, ratings.schema.high
    value = np.where(
        theirs, np.where(ratings.value > (low + high) / 2, low, high), ratings.value
    ).astype(np.float32)
    item = ratings.item.copy()
    if unit != "value":
        for person in np.setdiff1d(np.arange(ratings.n_users), same):
            cells = slice(ratings.ptr[person], ratings.ptr[person + 1])
            count = cells.stop - cells.start
            item[cells] = np.sort(rng.permutation(ratings.n_items)[:count])
    return replace(ratings, value=value, item=item)


def _followed(
    walked: Walk, company: Company, watched: NDArray[np.int64]
) -> Iterator[tuple[tuple[str, int], OnesShare | None]]:
    """What each watched person adds to each round, in this company. The plan is a new one,
    and personal state moves on within the company."""
    personal: dict[str, NDArray[np.float64]] = {}
    for round_, step in zip(walked.plan().rounds, walked.steps, strict=True):
        if not is_checked(round_):
            continue
        if company.singly:
            for person in watched.tolist():
                piece = slice(person, person + 1)
                person_block = only(_block(company.ratings, piece, round_, personal), 0)
                share = told_alone(round_, person_block, step.state)
                _keep(round_, person_block, personal)
                yield (round_.name, person), share
            continue
        order = company.people
        if any(part.kind is Kind.INPUT for part in round_.parts):
            order = None  # one number a cell: where each stands is public
        rows: Sequence[int] = range(company.ratings.n_users)
        piece = slice(0, company.ratings.n_users)
        block = _block(company.ratings, piece if order is None else order, round_, personal)
        if order is not None:
            rows = order.tolist()
        contribution = round_.contribute(block, step.state)
        _keep(round_, block, personal)
        position_of = {person: position for position, person in enumerate(rows)}
        for person in watched.tolist():
            share = told_by(round_, block, contribution, position_of[person])
            yield (round_.name, person), share


def _block(
    ratings: Ratings, piece: Piece, round_: Round, personal: dict[str, NDArray[np.float64]]
) -> Block:
    for member in round_.personal:
        personal.setdefault(member.name, np.zeros((ratings.n_users, member.width)))
    return block_of(ratings, piece, personal)


def _keep(round_: Round, block: Block, personal: dict[str, NDArray[np.float64]]) -> None:
    for member in round_.personal:
        personal[member.name][block.people] = block.personal[member.name]


def _checked_share(share: OnesShare | None) -> OnesShare:
    assert share is not None
    return share
