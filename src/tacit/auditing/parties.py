"""What each party of a federation sees: everything that the recommender and the aggregator
receive and store in a round, recorded, and attacked for one rating or one person.

Devices, masks, uploads, the aggregator's store and its answer are those of the federation
itself. Each device has two records that differ in one unit, by a coin. Each server by itself
must learn no more than the claim; both together hold words and masks, which is the contrast.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.black_box import learned_scores
from tacit.auditing.guesses import GaussianCurve, guess, least_mu, least_mu_any
from tacit.auditing.one_run import MOST_GUESSED
from tacit.auditing.verdict import AttackFinding, Target, make_finding
from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.federation.agreed.assembled import Assembled, assemble
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import pack_state
from tacit.federation.protocol.packing import mask, round_key
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import (
    Announcement,
    Opening,
    Sum,
    Upload,
    digest,
    integers,
    pack,
    sections,
    unpack,
)
from tacit.federation.server.store import ServerStore
from tacit.federation.server.uploads import MIGRATIONS, Key, Uploads
from tacit.ledger.account.event import Gaussian
from tacit.units import Unit

OWN = 12
"""Items that each device rates and nobody else does."""
DEVICES = 600
NONCE, ROUND_KEY = "ab" * 16, "cd" * 16
METHOD = "popularity"
"""Its first round releases numbers by item, which its devices' own items make their own."""
AGGREGATOR, RECOMMENDER = "aggregator", "recommender"
SUREST = 0.2


@dataclass(frozen=True)
class SeenByParty:
    """Bytes that a party received or stored."""

    party: str
    what: str
    data: bytes


@dataclass
class Recorder:
    """All that the parties of one round saw."""

    seen: list[SeenByParty] = field(default_factory=list)

    def note(self, party: str, kind: str, data: bytes) -> None:
        """One more message or file."""
        self.seen.append(SeenByParty(party, kind, data))

    def of(self, party: str, kind: str) -> list[bytes]:
        """What a party saw of one kind, in order."""
        return [
            message.data for message in self.seen if message.party == party and message.what == kind
        ]


@dataclass(frozen=True)
class Recorded:
    """One round: what was seen, and what only the auditor knows."""

    recorder: Recorder
    made: Assembled
    coins: NDArray[np.bool_]
    secrets: Sequence[bytes]
    """Of each device's mask: the recommender has them too."""
    records: tuple[NDArray[np.int64], NDArray[np.int64]]
    """Either record of every device, bounded, in steps: devices x items."""
    state: bytes


def record(unit: Unit, epsilon: float, delta: float, devices: int) -> Recorded:
    """One round of a federation, with everybody's coin tossed and everything recorded."""
    ids = [f"i{k}" for k in range(devices * OWN)]
    assembled = assemble(
        Task(
            method=METHOD,
            unit=unit,
            epsilon=epsilon,
            delta=delta,
            low=1,
            high=5,
            people=devices,
            cohort=devices,
            least=devices,
            items=catalogue_facts(Catalogue(ids)),
        )
    )
    rng = np.random.default_rng(list(token_bytes(16)))
    coins = rng.random(devices) < 0.5
    secrets = [token_bytes(32) for _ in range(devices)]
    state = pack_state(assembled.first_state.packed())
    recorder = Recorder()
    announcement = Announcement(
        task=assembled.task.name,
        round=0,
        attempt=0,
        nonce=NONCE,
        key=ROUND_KEY,
        joined=devices,
        least=devices,
        enough=assembled.task.enough,
        seconds=9.0,
    )
    bodies: list[bytes] = []
    exact: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])
    for index in range(devices):
        pair = [_device(assembled, index, unit, up) for up in (True, False)]
        for contributions, device in zip(exact, pair, strict=True):
            contributions.append(_contribution(assembled, device))
        sender = pair[0] if coins[index] else pair[1]
        body = sender.answer(announcement, memoryview(state), secrets[index])
        bodies.append(body)
        recorder.note(AGGREGATOR, "upload", body)
    with TemporaryDirectory() as folder:
        answer = asyncio.run(_summed(assembled, bodies, Path(folder), recorder))
    recorder.note(RECOMMENDER, "sum", answer)
    records = np.stack(exact[0]), np.stack(exact[1])
    return Recorded(recorder, assembled, coins, secrets, records, state)


def audit_parties(target: Target, devices: int = DEVICES) -> list[AttackFinding]:
    """What either server, and both together, find out about the coins."""
    recorded = record(target.unit, target.epsilon, target.delta, devices)
    return [
        _aggregator(target, recorded),
        _recommender(target, recorded),
        _both_servers(target, recorded),
    ]


def _aggregator(target: Target, recorded: Recorded) -> AttackFinding:
    """Masked words, sizes, headers: a rule from half of the devices, used on the others."""
    bodies = recorded.recorder.of(AGGREGATOR, "upload")
    sizes = {len(body) for body in bodies}
    own_columns = _own_columns(len(bodies))
    words = np.stack([_upload_words(recorded.made, body) for body in bodies])
    observed = np.take_along_axis(words.astype(np.float64), own_columns, axis=1)
    half = np.arange(len(bodies)) % 2 == 0
    scores = learned_scores(observed, recorded.coins, half)
    guess_count = round(SUREST * len(scores))
    got = guess(scores, recorded.coins[~half], guess_count)
    mu = least_mu_any(got, target.mistake)
    leak = len(sizes) > 1
    return make_finding(
        target,
        "the aggregator's view",
        GaussianCurve(mu).epsilon(target.delta),
        leak=leak,
        note=f"{len(bodies)} masked uploads, all of {min(sizes):,} bytes: {got.right} of "
        f"{got.made} guesses are right"
        if not leak
        else "the size of an upload tells what was rated",
    )


def _recommender(target: Target, recorded: Recorded) -> AttackFinding:
    """The aggregator's answer with all masks off: a sum with the aggregator's noise."""
    header, payload = unpack(Sum, recorded.recorder.of(RECOMMENDER, "sum")[0])
    layouts = recorded.made.layouts(0)
    parts = sections(layouts, header.rows, payload[16 * header.cohort :])
    layout = layouts[0]
    sum_words = np.array(parts[0].words)
    for secret in recorded.secrets:
        sum_words -= mask(
            _key(recorded, secret), layout.name, layout.size, layout.width, layout.bits
        )
    total = integers(sum_words, layout.bits).ravel().astype(np.float64)
    one, other = recorded.records
    own_columns = _own_columns(len(one))
    residual = total[own_columns] - np.take_along_axis((one + other) / 2, own_columns, axis=1)
    move = np.take_along_axis((one - other).astype(np.float64), own_columns, axis=1)
    size = np.sqrt((move**2).sum(axis=1))
    scores = (residual * move).sum(axis=1) / np.maximum(size, 1.0)
    name = f"{recorded.made.round(0).name}/{layout.name}"
    event = recorded.made.events[name]
    assert isinstance(event, Gaussian)
    got = guess(scores, recorded.coins, round(MOST_GUESSED * len(scores)))
    mu = least_mu(got, target.mistake)
    return make_finding(
        target,
        "the recommender's view",
        GaussianCurve(mu).epsilon(target.delta),
        note=f"the sum of {name} under the aggregator's noise of {event.sigma:.3g} steps: "
        f"{got.right} of {got.made} guesses are right",
    )


def _both_servers(target: Target, recorded: Recorded) -> AttackFinding:
    """Words and masks in one hand: every contribution lies open, which is not claimed
    against."""
    layout = recorded.made.layouts(0)[0]
    bodies = recorded.recorder.of(AGGREGATOR, "upload")
    right = 0
    for index, body in enumerate(bodies):
        mask_words = mask(
            _key(recorded, recorded.secrets[index]),
            layout.name,
            layout.size,
            layout.width,
            layout.bits,
        )
        words = _upload_words(recorded.made, body).reshape(mask_words.shape) - mask_words
        bare = integers(words, layout.bits).ravel()
        up = np.array_equal(bare, recorded.records[0][index])
        right += int(up == bool(recorded.coins[index]))
    unclaimed = Target(target.method, target.unit, "none", target.epsilon, target.delta)
    return make_finding(
        unclaimed,
        "both servers together",
        inf if right == len(bodies) else 0.0,
        leak=right == len(bodies),
        note=f"{right} of {len(bodies)} coins read off exactly; that the servers do not "
        "collude is assumed, not shown",
    )


def _device(assembled: Assembled, index: int, unit: Unit, up: bool) -> Device:
    """A person with items of her own. At `user` the other record is nothing at all; at
    `rating` it lacks one cell."""
    items = index * OWN + np.arange(OWN, dtype=np.uint32)
    values = np.where(np.arange(OWN) % 2 == 0, 2.0, -2.0)
    if not up:
        retained_count = 0 if unit == "user" else OWN - 1
        items, values = items[:retained_count], values[:retained_count]
    policy = Policy(epsilon=1e6, unit=unit)
    return Device(assembled, index, items, values, None, policy, token_bytes(32))


def _contribution(assembled: Assembled, device: Device) -> NDArray[np.int64]:
    """What she adds to the first part, bounded."""
    round_ = assembled.round(0)
    contribution = round_.contribute(device._block(round_), assembled.first_state)
    part, layout = round_.parts[0], assembled.layouts(0)[0]
    bounded_rows = device._weighted_integers(
        part, layout, contribution[part.name], len(device.items)
    )
    return np.asarray(bounded_rows.ravel(), np.int64)


async def _summed(
    assembled: Assembled, bodies: list[bytes], folder: Path, recorder: Recorder
) -> bytes:
    """The aggregator's own store and sum; what it stores is recorded too."""
    store = ServerStore(folder / "store", MIGRATIONS, "aggregator")
    try:
        uploads = Uploads(store, 2)
        opening = Opening(
            task=assembled.task.name,
            round=0,
            attempt=0,
            parts=assembled.layouts(0),
            least=len(bodies),
        )
        recorder.note(AGGREGATOR, "opening", pack(opening))
        await uploads.open(opening, pack(opening))
        key = Key(assembled.task.name, 0, 0)
        for index, body in enumerate(bodies):
            await uploads.keep(key, f"{index:032x}", len(bodies), body)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                recorder.note(AGGREGATOR, "stored", path.read_bytes())
        answer = await uploads.reveal(key, False)
    finally:
        store.close()
    assert answer is not None
    return answer


def _upload_words(assembled: Assembled, body: bytes) -> NDArray[np.unsignedinteger]:
    """The words of the first part of an upload."""
    header, payload = unpack(Upload, body)
    parts = sections(assembled.layouts(0), header.rows, payload)
    return np.asarray(parts[0].words).ravel()


def _own_columns(devices: int) -> NDArray[np.int64]:
    """The items of each device."""
    return np.arange(devices * OWN).reshape(devices, OWN)


def _key(recorded: Recorded, secret: bytes) -> bytes:
    return round_key(secret, recorded.made.task.name, 0, NONCE, digest(recorded.state))
