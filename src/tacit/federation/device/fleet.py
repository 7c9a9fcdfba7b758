"""Many real devices in one process, for trials and tests: each has its own key, ledger
record and conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.ratings import Ratings
from tacit.errors import BudgetError, Failure, TacitError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.device.client import Away, Conversation, KnownServer, Papers, fetch_task
from tacit.federation.device.device import Device
from tacit.federation.device.part import Vanish, Wallet, enrol_patiently, take_part
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import new_exchange
from tacit.ledger.book.devices import DeviceBooks
from tacit.noise import bits

ENROL_AT_ONCE = 64
"""Devices that enrol at a time."""


@dataclass
class FleetReport:
    """What a fleet saw; counts and bytes, nothing else."""

    devices: int = 0
    answered: int = 0
    at_cap: int = 0
    """Devices that stopped because their own ledger had no more room."""
    failed: list[str] = field(default_factory=list)
    """What others stopped for."""
    bytes_up: int = 0
    bytes_down: int = 0
    log: list[Any] = field(default_factory=list)
    """The (round, attempt) of every answer."""


def make_devices(
    assembled: Assembled, ratings: Ratings, count: int, policy: Policy, first: int = 0
) -> list[Device]:
    """The first `count` people of a data set as devices; items outside the task's catalogue
    are left out."""
    index = assembled.public.catalogue.index
    rows = np.array([index.get(name, -1) for name in ratings.items], np.int64)
    schema = assembled.public.schema
    out = list[Device]()
    for person in range(first, min(first + count, ratings.n_users)):
        cells = ratings.row(person)
        item_rows = rows[ratings.item[cells]]
        order = np.argsort(item_rows, kind="stable")
        order = order[item_rows[order] >= 0]
        value = ratings.value[cells].astype(np.float64)
        value = (value - schema.middle) / schema.unit_width
        time = None if ratings.time is None else ratings.time[cells][order]
        items, values = item_rows[order].astype(np.uint32), value[order]
        secret = bits.fresh().token(32)
        out.append(Device(assembled, person, items, values, time, policy, secret))
    return out


async def run_fleet(
    url: str,
    ratings: Ratings,
    *,
    devices: int | None = None,
    pin: str | None = None,
    policy: Policy | None = None,
    book: Path | None = None,
    rounds: int | None = None,
    vanish: Vanish = 0.0,
    papers: Sequence[Papers] | None = None,
    ca: str | None = None,
    first: int = 0,
    privates: Sequence[bytes] | None = None,
    aggregator_pin: str | None = None,
    insecure: bool = False,
    task: str | None = None,
) -> FleetReport:
    """Enrol and take part with many devices until the training is over or `rounds` were
    answered by each.

    The devices are those of `devices` people from the person `first` on. `privates` are
    their keys, if they have been here before; `book` is where their ledgers are kept.
    `papers` is what each shows when it enrols, the last one for all that follow. `task` names
    the training, where the recommender has several.
    """
    policy = policy or Policy()
    async with Web(ca, insecure=insecure) as web:
        recommender = KnownServer(url.rstrip("/"), pin)
        try:
            await recommender.learn(web)
            assembled, aggregator = await fetch_task(web, recommender, aggregator_pin, task)
            await aggregator.learn(web)
        except Away as error:
            raise Failure(
                f"a server cannot be reached ({error})", remedy="check its address and --ca"
            ) from None
        fleet = make_devices(assembled, ratings, devices or ratings.n_users, policy, first)
        keys = privates or [new_exchange()[0] for _ in fleet]
        links = [Conversation(web, recommender, aggregator, key) for key in keys[: len(fleet)]]
        cap = (policy.epsilon, policy.delta)
        books = DeviceBooks(len(fleet), cap, book, unit=policy.unit)
        report = FleetReport(devices=len(fleet))
        try:
            await _enrol(links, papers or [Papers()])
            wallet = Wallet(books, policy.steps(assembled))
            await asyncio.gather(
                *(
                    _run_device(report, links[position], device, position, wallet, rounds, vanish)
                    for position, device in enumerate(fleet)
                )
            )
        finally:
            books.close()
        report.answered = len(report.log)
        report.bytes_up = sum(link.bytes_up for link in links)
        report.bytes_down = sum(link.bytes_down for link in links)
    return report


async def _enrol(links: Sequence[Conversation], papers: Sequence[Papers]) -> None:
    """Make all devices known, some at a time."""
    gate = asyncio.Semaphore(ENROL_AT_ONCE)

    async def enrol_one(link: Conversation, credentials: Papers) -> None:
        async with gate:
            await enrol_patiently(link, credentials)

    device_papers = [*papers, *(papers[-1] for _ in links)][: len(links)]
    await asyncio.gather(*map(enrol_one, links, device_papers))


async def _run_device(
    report: FleetReport,
    link: Conversation,
    device: Device,
    position: int,
    wallet: Wallet,
    rounds: int | None,
    vanish: Vanish,
) -> None:
    """One device; what stops it is written down, and stops no other."""
    try:
        await take_part(
            link, device, position, wallet, rounds=rounds, log=report.log, vanish=vanish
        )
    except BudgetError:
        report.at_cap += 1
    except TacitError as error:
        report.failed.append(error.message)
