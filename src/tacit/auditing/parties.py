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
from tacit.auditing.verdict import AttackFinding, Target, found
from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.federation.agreed.assembled import Assembled, assemble
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import pack_state
from tacit.federation.protocol.masks import mask, round_key
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

    def note(self, party: str, what: str, data: bytes) -> None:
        """One more message or file."""
        self.seen.append(SeenByParty(party, what, data))

    def of(self, party: str, what: str) -> list[bytes]:
        """What a party saw of one kind, in order."""
        return [each.data for each in self.seen if each.party == party and each.what == what]


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
    made = assemble(
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
    state = pack_state(made.first_state.packed())
    recorder = Recorder()
    told = Announcement(
        task=made.task.name,
        round=0,
        attempt=0,
        nonce=NONCE,
        key=ROUND_KEY,
        joined=devices,
        least=devices,
        enough=made.task.enough,
        seconds=9.0,
    )
    bodies: list[bytes] = []
    exact: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])
    for place in range(devices):
        both = [_device(made, place, unit, up) for up in (True, False)]
        for kept, one in zip(exact, both, strict=True):
            kept.append(_contribution(made, one))
        sender = both[0] if coins[place] else both[1]
        body = sender.answer(told, memoryview(state), secrets[place])
        bodies.append(body)
        recorder.note(AGGREGATOR, "upload", body)
    with TemporaryDirectory() as folder:
        answer = asyncio.run(_summed(made, bodies, Path(folder), recorder))
    recorder.note(RECOMMENDER, "sum", answer)
    records = np.stack(exact[0]), np.stack(exact[1])
    return Recorded(recorder, made, coins, secrets, records, state)


def audit_parties(target: Target, devices: int = DEVICES) -> list[AttackFinding]:
    """What either server, and both together, find out about the coins."""
    done = record(target.unit, target.epsilon, target.delta, devices)
    return [_aggregator(target, done), _recommender(target, done), _both(target, done)]


def _aggregator(target: Target, done: Recorded) -> AttackFinding:
    """Masked words, sizes, headers: a rule from half of the devices, used on the others."""
    bodies = done.recorder.of(AGGREGATOR, "upload")
    sizes = {len(body) for body in bodies}
    own = _own(len(bodies))
    words = np.stack([_words(done.made, body) for body in bodies])
    told = np.take_along_axis(words.astype(np.float64), own, axis=1)
    half = np.arange(len(bodies)) % 2 == 0
    scores = learned_scores(told, done.coins, half)
    made = round(SUREST * len(scores))
    got = guess(scores, done.coins[~half], made)
    mu = least_mu_any(got, target.mistake)
    leak = len(sizes) > 1
    return found(
        target,
        "the aggregator's view",
        GaussianCurve(mu).epsilon(target.delta),
        leak=leak,
        note=f"{len(bodies)} masked uploads, all of {min(sizes):,} bytes: {got.right} of "
        f"{got.made} guesses are right"
        if not leak
        else "the size of an upload tells what was rated",
    )


def _recommender(target: Target, done: Recorded) -> AttackFinding:
    """The aggregator's answer with all masks off: a sum with the aggregator's noise."""
    header, payload = unpack(Sum, done.recorder.of(RECOMMENDER, "sum")[0])
    layouts = done.made.layouts(0)
    parts = sections(layouts, header.rows, payload[16 * header.cohort :])
    layout = layouts[0]
    whole = np.array(parts[0].words)
    for secret in done.secrets:
        whole -= mask(_key(done, secret), layout.name, layout.size, layout.width, layout.bits)
    total = integers(whole, layout.bits).ravel().astype(np.float64)
    one, other = done.records
    own = _own(len(one))
    left = total[own] - np.take_along_axis((one + other) / 2, own, axis=1)
    move = np.take_along_axis((one - other).astype(np.float64), own, axis=1)
    size = np.sqrt((move**2).sum(axis=1))
    scores = (left * move).sum(axis=1) / np.maximum(size, 1.0)
    name = f"{done.made.round(0).name}/{layout.name}"
    event = done.made.events[name]
    assert isinstance(event, Gaussian)
    got = guess(scores, done.coins, round(MOST_GUESSED * len(scores)))
    mu = least_mu(got, target.mistake)
    return found(
        target,
        "the recommender's view",
        GaussianCurve(mu).epsilon(target.delta),
        note=f"the sum of {name} under the aggregator's noise of {event.sigma:.3g} steps: "
        f"{got.right} of {got.made} guesses are right",
    )


def _both(target: Target, done: Recorded) -> AttackFinding:
    """Words and masks in one hand: every contribution lies open, which is not claimed
    against."""
    layout = done.made.layouts(0)[0]
    bodies = done.recorder.of(AGGREGATOR, "upload")
    right = 0
    for place, body in enumerate(bodies):
        own = mask(
            _key(done, done.secrets[place]), layout.name, layout.size, layout.width, layout.bits
        )
        words = _words(done.made, body).reshape(own.shape) - own
        bare = integers(words, layout.bits).ravel()
        up = np.array_equal(bare, done.records[0][place])
        right += int(up == bool(done.coins[place]))
    unclaimed = Target(target.method, target.unit, "none", target.epsilon, target.delta)
    return found(
        unclaimed,
        "both servers together",
        inf if right == len(bodies) else 0.0,
        leak=right == len(bodies),
        note=f"{right} of {len(bodies)} coins read off exactly; that the servers do not "
        "collude is assumed, not shown",
    )


def _device(made: Assembled, place: int, unit: Unit, up: bool) -> Device:
    """A person with items of her own. At `user` the other record is nothing at all; at
    `rating` it lacks one cell."""
    items = place * OWN + np.arange(OWN, dtype=np.uint32)
    values = np.where(np.arange(OWN) % 2 == 0, 2.0, -2.0)
    if not up:
        kept = 0 if unit == "user" else OWN - 1
        items, values = items[:kept], values[:kept]
    policy = Policy(epsilon=1e6, unit=unit)
    return Device(made, place, items, values, None, policy, token_bytes(32))


def _contribution(made: Assembled, device: Device) -> NDArray[np.int64]:
    """What she adds to the first part, bounded."""
    round_ = made.round(0)
    given = round_.contribute(device._block(round_), made.first_state)
    part, layout = round_.parts[0], made.layouts(0)[0]
    whole = device._whole(part, layout, given[part.name], len(device.items))
    return np.asarray(whole.ravel(), np.int64)


async def _summed(made: Assembled, bodies: list[bytes], folder: Path, recorder: Recorder) -> bytes:
    """The aggregator's own store and sum; what it stores is recorded too."""
    store = ServerStore(folder / "store", MIGRATIONS, "aggregator")
    try:
        uploads = Uploads(store, 2)
        opening = Opening(
            task=made.task.name, round=0, attempt=0, parts=made.layouts(0), least=len(bodies)
        )
        recorder.note(AGGREGATOR, "opening", pack(opening))
        await uploads.open(opening, pack(opening))
        key = Key(made.task.name, 0, 0)
        for place, body in enumerate(bodies):
            await uploads.keep(key, f"{place:032x}", len(bodies), body)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                recorder.note(AGGREGATOR, "stored", path.read_bytes())
        answer = await uploads.reveal(key, False)
    finally:
        store.close()
    assert answer is not None
    return answer


def _words(made: Assembled, body: bytes) -> NDArray[np.unsignedinteger]:
    """The words of the first part of an upload."""
    header, payload = unpack(Upload, body)
    parts = sections(made.layouts(0), header.rows, payload)
    return np.asarray(parts[0].words).ravel()


def _own(devices: int) -> NDArray[np.int64]:
    """The items of each device."""
    return np.arange(devices * OWN).reshape(devices, OWN)


def _key(done: Recorded, secret: bytes) -> bytes:
    return round_key(secret, done.made.task.name, 0, NONCE, digest(done.state))
