"""A server that is not what it says: devices and the other server notice."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tacit.cli.federate.admin import admin
from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.errors import Failure, TacitError
from tacit.federation.agreed.assembled import assemble
from tacit.federation.agreed.scheme import Attempt
from tacit.federation.device.client import Conversation, KnownServer, _reason, fetch_task
from tacit.federation.protocol import arrays
from tacit.federation.protocol.arrays import Held
from tacit.federation.protocol.http import Answer
from tacit.federation.protocol.keys import Identity, believed, new_exchange
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import (
    Closing,
    Opening,
    PartLayout,
    Sum,
    Upload,
    WireError,
    pack,
)
from tacit.federation.server import aggregator
from tacit.federation.server.remote import RemoteAggregator
from tacit.federation.server.store import Refusal, ServerStore
from tacit.federation.server.unmask import unmask
from tacit.federation.server.uploads import Key, Uploads

TASK = "ab" * 16
PART = PartLayout(name="x", size=2, width=1, bits=32)


class Said:
    """In place of the web: one answer to everything."""

    def __init__(self, body: bytes, headers: dict[str, str]) -> None:
        self.answer = Answer(200, headers, body)

    async def get(self, *_: Any) -> Answer:
        return self.answer

    async def post(self, *_: Any) -> Answer:
        return self.answer

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def identity(tmp_path: Path) -> Identity:
    return Identity(tmp_path / "recommender.json")


@pytest.fixture
def other(tmp_path: Path) -> Identity:
    return Identity(tmp_path / "aggregator.json")


def fetched(identity: Identity, facts: dict[str, Any], signer: Any = None) -> Any:
    """What a device makes of a task."""
    body = json.dumps(facts).encode()
    signature = (signer or identity).sign(b"task", body)
    web: Any = Said(body, {"tacit-signature": signature})
    server = KnownServer("http://127.0.0.1:1", identity.public.hex())
    return asyncio.run(fetch_task(web, server))


@pytest.fixture
def facts(other: Identity) -> dict[str, Any]:
    """A task that is fine."""
    items = catalogue_facts(Catalogue(["a", "b", "c"]))
    task = Task(
        method="popularity", epsilon=1.0, low=1, high=5, people=20, items=items, cohort=20, least=10
    )
    made = assemble(task)
    return {
        "task": task.model_dump(mode="json"),
        "events": json.loads(made.events_text()),
        "aggregator": {"url": "http://127.0.0.1:2", "identity": other.public.hex()},
    }


def test_a_good_task_is_taken(identity, facts) -> None:
    made, _ = fetched(identity, facts)
    assert made.task.method == "popularity"


def test_a_recommender_may_not_be_its_own_aggregator(identity, facts) -> None:
    facts["aggregator"]["identity"] = identity.public.hex()
    with pytest.raises(Failure, match="its own aggregator"):
        fetched(identity, facts)


def test_a_task_of_somebody_else_is_not_believed(identity, other, facts) -> None:
    with pytest.raises(Failure, match="not signed"):
        fetched(identity, facts, other)


def test_announced_noise_that_is_too_small_is_seen(identity, facts) -> None:
    """Whatever number of an event is changed."""
    for name, value in facts["events"][0].items():
        if not isinstance(value, float | int) or isinstance(value, bool):
            continue
        changed = json.loads(json.dumps(facts))
        changed["events"][0][name] = value / 2 if value else 1
        with pytest.raises((Failure, ValueError)):
            fetched(identity, changed)


def test_a_task_with_less_noise_is_another_task(identity, facts) -> None:
    """Ten times the epsilon: its events do not follow, and its name is another."""
    before = Task.model_validate(facts["task"]).name
    facts["task"]["epsilon"] = 10.0
    assert Task.model_validate(facts["task"]).name != before
    with pytest.raises(Failure, match="announced noise"):
        fetched(identity, facts)


@pytest.fixture
def uploads(tmp_path: Path):
    store = ServerStore(tmp_path / "store", aggregator.MIGRATIONS, "aggregator")
    yield Uploads(store, 2)
    store.close()


async def _attempt(uploads: Uploads, number: int, who: tuple[int, ...]) -> Key:
    opening = Opening(task=TASK, round=0, attempt=number, parts=(PART,), least=2)
    await uploads.open(opening, pack(opening))
    key = Key(TASK, 0, number)
    for device in who:
        header = Upload(task=TASK, round=0, attempt=number, least=2)
        words = np.full(2, device, "<u4").tobytes()
        name = f"{device:032x}"
        await uploads.keep(key, name, 2, pack(header, words))
    return key


def test_a_second_sum_of_a_round_is_never_revealed(uploads) -> None:
    """A recommender that asks for two cohorts that differ in one person."""

    async def run() -> None:
        first = await _attempt(uploads, 0, (1, 2, 3))
        second = await _attempt(uploads, 1, (1, 2))
        assert await uploads.reveal(first, give_up=False)
        assert await uploads.reveal(second, give_up=False) is None
        with pytest.raises(Refusal, match="revealed already"):
            await _attempt(uploads, 2, ())
        again = await uploads.reveal(first, give_up=False)
        assert again == await uploads.reveal(first, give_up=False)

    asyncio.run(run())


def test_an_attempt_that_was_given_up_stays_so(uploads) -> None:
    async def run() -> None:
        key = await _attempt(uploads, 0, (1, 2, 3))
        assert await uploads.reveal(key, give_up=True) is None
        assert await uploads.reveal(key, give_up=False) is None

    asyncio.run(run())


def test_after_an_older_copy_came_back_open_rounds_are_given_up(uploads, tmp_path) -> None:
    """What the copy has as open may have been revealed since: it never is again."""

    async def run() -> Key:
        return await _attempt(uploads, 0, (1, 2, 3))

    key = asyncio.run(run())
    where = ["--server", "aggregator", "--store", str(tmp_path / "store")]
    found = CliRunner().invoke(admin, ["give-up", *where])
    assert found.exit_code == 0
    assert "1 open attempts" in found.output
    assert asyncio.run(uploads.reveal(key, give_up=False)) is None
    again = CliRunner().invoke(admin, ["give-up", *where])
    assert "0 open attempts" in again.output


def test_a_sum_over_too_few_is_never_revealed(uploads) -> None:
    async def run() -> None:
        key = await _attempt(uploads, 0, (1,))
        assert await uploads.reveal(key, give_up=False) is None

    asyncio.run(run())


def test_an_aggregator_that_does_not_sign_is_not_believed(identity, other) -> None:
    """A sum under another identity, or of another question."""
    closing = Closing(task=TASK, round=0, attempt=0)

    def ask(signature: str) -> Any:
        remote = RemoteAggregator("http://127.0.0.1:2", other.public.hex(), identity)
        remote._web = Said(b"sum", {"tacit-signature": signature})  # type: ignore[assignment]
        return asyncio.run(remote.close(closing))

    asked = pack(closing)
    good = other.sign(b"answer", asked, b"sum")
    assert ask(good) == b"sum"
    for wrong in (
        identity.sign(b"answer", asked, b"sum"),
        other.sign(b"answer", b"another question", b"sum"),
        other.sign(b"answer", asked, b"another sum"),
        "",
    ):
        with pytest.raises(Failure, match="not signed"):
            ask(wrong)


DEEP = b"[" * 200_000
"""Nested deeper than a parser follows."""


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"task": {}}',
        DEEP,
        b'{"task": {}, "events": [], "aggregator": []}',
    ],
    ids=lambda body: body[:20].decode(),
)
def test_what_is_no_task_is_refused_in_words(identity, body) -> None:
    """Signed by the pinned recommender, which may sign what it likes."""
    web: Any = Said(body, {"tacit-signature": identity.sign(b"task", body)})
    server = KnownServer("http://127.0.0.1:1", identity.public.hex())
    with pytest.raises(Failure):
        asyncio.run(fetch_task(web, server))


@pytest.mark.parametrize("events", [None, [{}], [{"kind": "none"}], "x", [1]])
def test_events_that_are_none_are_refused_in_words(identity, facts, events) -> None:
    facts["events"] = events
    with pytest.raises(Failure):
        fetched(identity, facts)


@pytest.mark.parametrize(
    "spelt", [str.upper, lambda text: f" {text}", lambda text: f"{text[:2]} {text[2:]}"]
)
def test_one_identity_in_two_spellings_is_not_two_servers(identity, facts, spelt) -> None:
    facts["aggregator"]["identity"] = spelt(identity.public.hex())
    with pytest.raises(Failure):
        fetched(identity, facts)
    card = identity.card() | {"identity": spelt(identity.public.hex())}
    with pytest.raises(Failure, match="does not parse"):
        believed(card, None)


@pytest.mark.parametrize("body", [DEEP, b"[]", b"{}", b"7"])
def test_a_card_that_is_none_is_refused_in_words(identity, body) -> None:
    server = KnownServer("http://127.0.0.1:1", identity.public.hex())
    with pytest.raises(Failure, match="does not parse"):
        asyncio.run(server.learn(Said(body, {})))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "told",
    [
        b'{"time": 1e999, "after": 1}',
        b'{"time": 1, "after": 1e999}',
        b'{"time": 1, "after": 9223372036854775806}',
        b'{"time": -5, "after": 1}',
        b'{"time": "x", "after": 1}',
        DEEP,
    ],
    ids=lambda told: told[:30].decode(),
)
def test_no_time_that_a_server_tells_stops_a_device_for_ever(identity, told) -> None:
    """Stamps go on, inside of what a message can say."""
    server = KnownServer("http://127.0.0.1:1", identity.public.hex())
    link = Conversation(Said(b"", {}), server, server, new_exchange()[0])  # type: ignore[arg-type]
    before = link.stamp()
    link._learn_time(told)
    assert before < link.stamp() < 1 << 63


def test_a_refusal_that_nests_without_end_is_no_reason() -> None:
    assert _reason(DEEP) == ""
    assert _reason(b'{"error": "no"}') == "no"


@pytest.mark.parametrize("cohort", [2**31 - 1, 10**6])
def test_a_sum_over_more_devices_than_joined_is_refused_unread(facts, cohort) -> None:
    """Names of so many would be looked for in a payload that has none."""
    made = assemble(Task.model_validate(facts["task"]))
    joined = {"a" * 32: np.zeros(0, np.uint32)}
    attempt = Attempt(0, 0, "ab" * 16, "cd" * 16, joined, {})
    for more in ({}, {"cohorts": (cohort,)}, {"cohorts": (1,) * 2000}):
        found = Sum(task=made.task.name, round=0, attempt=0, cohort=cohort)
        found = found.model_copy(update=more)
        began = time.monotonic()
        with pytest.raises(Failure, match="cohort"):
            unmask(made, attempt, Any, pack(found), bytes.fromhex, 20.0)  # type: ignore[arg-type]
        assert time.monotonic() - began < 1


@pytest.mark.parametrize("kind", ["BF16", "F8_E4M3", "X"])
def test_state_of_numbers_that_numpy_has_not_is_refused_in_words(kind) -> None:
    told = {"a": {"dtype": kind, "shape": [2], "data_offsets": [0, 4]}}
    text = json.dumps(told).encode()
    for pad in (0, arrays.MOST_REMEMBERED):
        long = text + b" " * pad
        data = len(long).to_bytes(8, "little") + long + bytes(4)
        with pytest.raises(WireError, match="does not parse"):
            arrays.unpack_state(data)


def test_new_rows_that_do_not_fit_those_held_are_asked_for_again() -> None:
    held = Held({"path"})
    first = arrays.pack_state({"path": np.ones((2, 3))})
    assert held.complete(first, 0, "") is not None
    for rows in ({"path": np.ones((1, 4))}, {"other": np.ones((1, 3))}):
        assert held.complete(arrays.pack_state(rows), held.rows, "ab") is None
        assert held.rows == 0
        assert held.complete(first, 0, "") is not None


@pytest.mark.parametrize(
    ("member", "value"),
    [("ids", 7), ("ids", [["a"]]), ("years", 1e300), ("years", ["x"]), ("tagged", [[9]])],
)
def test_items_that_are_no_catalogue_are_refused_in_words(identity, facts, member, value) -> None:
    facts["task"]["items"][member] = value
    with pytest.raises(TacitError):
        fetched(identity, facts)


@pytest.mark.parametrize("epsilon", [1e308, 1e30])
def test_no_epsilon_has_a_device_search_for_ever(identity, facts, epsilon) -> None:
    """Seen: at 1e308 the search for its noise did not end."""
    facts["task"]["epsilon"] = epsilon
    with pytest.raises(TacitError, match="epsilon"):
        fetched(identity, facts)
