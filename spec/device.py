"""Makes `spec/vectors/device.json`: what devices of a federation add, method by method.

    python spec/device.py

For each task: the document of `GET /v1/task`, and for each round the public state, the layouts and
the integers of two people, as Tacit's own device makes them before noise and mask. States come from
a training of a few invented people without noise. `docs/protocol-methods.md` says what the numbers
are; `tests/web/device.test.mjs` checks the page by them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.catalogue import catalogue_facts
from tacit.data.sample import sample_catalogue
from tacit.federation.agreed.assembled import Assembled, aggregate_reports, assemble, device_report
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import pack_state
from tacit.federation.protocol.task import Task
from tacit.kernels.rows import add_rows
from tacit.ledger.account.account import epsilon
from tacit.noise.device import choice_bound
from tacit.noise.interval import rational
from tacit.noise.poisson import Inversion
from tacit.rounds.round import Block, Kind, Part, Released, Round
from tacit.rounds.state import State

FILE = Path(__file__).parent / "vectors" / "device.json"
ITEMS = 24
PEOPLE = 40
"""Invented people; the task says more, so that all methods have all of their rounds."""
DECLARED = 20_000
SHOWN = (0, 7, 9)
"""Whose integers are written down."""
EMPTY = 9
"""Who has rated nothing."""
DELTA = 1e-5
TASKS: dict[str, dict[str, Any]] = {
    "popularity": {"method": "popularity", "epsilon": 1.0},
    "popularity pure": {"method": "popularity", "epsilon": 2.0, "delta": 0.0},
    "popularity both": {"method": "popularity", "epsilon": 1.0, "noise": "both"},
    "popularity without noise": {"method": "popularity", "calibration": "none"},
    "bias": {"method": "bias", "epsilon": 1.0},
    "bias without noise": {"method": "bias", "calibration": "none"},
    "bias by devices": {"method": "bias", "epsilon": 2.0, "noise": "devices"},
    "mf-federated": {
        "method": "mf-federated",
        "epsilon": 4.0,
        "settings": {"factors": 3, "turns": 1},
    },
    "one-bit": {"method": "one-bit", "epsilon": 4.0},
    "one-bit-projected": {"method": "one-bit-projected", "epsilon": 4.0},
    "one-bit-naive": {"method": "one-bit-naive", "epsilon": 4.0},
    "one-bit-naive pure": {"method": "one-bit-naive", "epsilon": 4.0, "delta": 0.0},
    "one-bit without noise": {"method": "one-bit", "calibration": "none"},
}


@dataclass(frozen=True)
class Crowd:
    """The invented people, as a block, and one by one as devices."""

    block: Block
    devices: list[Device]


def made() -> dict[str, Any]:
    """The whole file."""
    return {
        "tasks": {name: _task(facts) for name, facts in TASKS.items()},
        "choice": [
            [e, n, k, str(choice_bound(e, n, k))]
            for e, n, k in ((1.0, 8, 2), (0.1, 2, 1), (4.0, 128, 5))
        ],
        "poisson": [_poisson(mean) for mean in (0.5, 12.0, 700.25)],
    }


def _poisson(mean: float) -> dict[str, Any]:
    from fractions import Fraction

    table = Inversion(rational(Fraction(mean)))
    return {
        "mean": mean,
        "first": table.first,
        "lower": [str(word) for word in table.lower.tolist()],
        "upper": [str(word) for word in table.upper.tolist()],
    }


def _task(facts: dict[str, Any]) -> dict[str, Any]:
    defaults = {"delta": 1e-6, "people": DECLARED, "cohort": DECLARED}
    given = defaults | {"low": 1.0, "high": 5.0, "least": 100, "seed": 5}
    task = Task(**(given | {"items": _items()} | facts))
    made_ = assemble(task)
    crowd = _crowd(made_)
    state = made_.first_state
    rounds = []
    for index, round_ in enumerate(made_.plan.rounds):
        rounds.append(_round(made_, index, state, crowd))
        state = round_.absorb(state, _released(made_, round_, state, crowd))
    document = {
        "name": task.name,
        "task": task.model_dump(mode="json"),
        "events": json.loads(made_.events_text()),
        "aggregator": {"url": "http://127.0.0.1:2", "identity": "00" * 32},
    }
    price = epsilon(made_.events.values(), DELTA) if made_.events else None
    return {
        "document": json.dumps(document),
        "people": [_person(crowd.devices[one]) for one in SHOWN],
        "rounds": rounds,
        "price": price,
    }


def _items() -> dict[str, Any]:
    """The first items of the sample's catalogue."""
    facts = catalogue_facts(sample_catalogue())
    by_item = ("ids", "titles", "years", "tagged", "numeric")
    return {
        name: value[:ITEMS] if name in by_item and value else value for name, value in facts.items()
    }


def _person(device: Device) -> dict[str, Any]:
    return {"label": device.label, "items": device.items.tolist(), "values": device.values.tolist()}


def _crowd(made_: Assembled) -> Crowd:
    rng = np.random.default_rng(3)
    policy = Policy(epsilon=1e6, accept_unbounded=True, noise=("servers", "devices", "both"))
    devices = list[Device]()
    for person in range(PEOPLE):
        count = 0 if person == EMPTY else int(rng.integers(1, ITEMS))
        items = np.sort(rng.choice(ITEMS, count, replace=False))
        values = rng.integers(1, 6, count) - 3.0
        label = 11 + 1_000_003 * person
        secret = bytes([person]) * 32
        own = items.astype(np.uint32)
        devices.append(Device(made_, label, own, values, None, policy, secret))
    counts = [len(each.items) for each in devices]
    block = Block(
        np.array([each.label for each in devices], np.int64),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([each.items for each in devices]),
        np.concatenate([each.values for each in devices]),
        None,
        0,
        {},
    )
    return Crowd(block, devices)


def _round(made_: Assembled, index: int, state: State, crowd: Crowd) -> dict[str, Any]:
    round_ = made_.round(index)
    layouts = made_.layouts(index)
    given = [
        {part.name: _integers(device, round_, part, state) for part in round_.parts}
        for device in (crowd.devices[one] for one in SHOWN)
    ]
    return {
        "name": round_.name,
        "state": pack_state(state.packed()).hex(),
        "print": made_.agreed(index),
        "layouts": [each.model_dump() for each in layouts],
        "given": given,
    }


def _integers(device: Device, round_: Round, part: Part, state: State) -> list[float]:
    """What a device adds to a part; of a report, the answers that it favours."""
    block = device._block(round_)
    rows = round_.contribute(block, state)[part.name]
    if part.kind is Kind.REPORT:
        return np.asarray(rows.values, np.float64).ravel().tolist()
    layout = device.made.layouts(device.made.plan.rounds.index(round_))[round_.parts.index(part)]
    whole = device._weighted_integers(part, layout, rows, len(device.items))
    found: list[float] = whole.ravel().tolist()
    return found


def _released(made_: Assembled, round_: Round, state: State, crowd: Crowd) -> dict[str, Released]:
    """What the round releases: exact sums with the noise's own deviation, or reports."""
    given = round_.contribute(crowd.block, state)
    out = {}
    for part in round_.parts:
        path = f"{round_.name}/{part.name}"
        event = made_.events.get(path)
        if part.kind is Kind.REPORT:
            words = [
                device_report(
                    part,
                    event,
                    round_.contribute(each._block(round_), state)[part.name],
                    each.label,
                )
                for each in crowd.devices
            ]
            out[part.name] = aggregate_reports(part, event, np.concatenate(words))
            continue
        total = np.zeros((part.size, part.width), np.int64)
        rows = given[part.name]
        add_rows(rows.index, part.bound.apply(rows), total)
        sd = made_.noise_sd(path, PEOPLE) / part.bound.steps
        out[part.name] = Released(total / part.bound.steps, sd, reports=len(crowd.devices))
    return out


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(made()) + "\n")


if __name__ == "__main__":
    main()
