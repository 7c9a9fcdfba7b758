"""Noise that does not rest on strangers: one server, with every other device invented,
against the one honest person in the sum (docs/proofs/federated.md, Servers)."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from pydantic import ValidationError

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.engine.federated import Federated
from tacit.errors import SettingError
from tacit.federation.agreed.assembled import assemble
from tacit.federation.agreed.scheme import Attempt
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.packing import mask, packed, round_key
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import (
    Announcement,
    Opening,
    PartLayout,
    Section,
    Sum,
    Upload,
    digest,
    integers,
    layouts_print,
    pack,
    sections,
    to_words,
    unpack,
)
from tacit.federation.server.store import ServerStore
from tacit.federation.server.unmask import Opened, unmask
from tacit.federation.server.uploads import MIGRATIONS, Key, RoundTotal, Uploads
from tacit.ledger.account.account import epsilon
from tacit.ledger.statement.statement import Honesty, one_share
from tacit.noise.portion import Spread, draw_server_noise, spread_of
from tacit.rounds.state import State
from tacit.testing.sampler import fits, gaussian_cdf

ITEMS = 400
LEAST = 40
HONEST = "aa" * 16
SECRET = b"m" * 32
PRIVATE = ("servers", "both")


def task(**changes) -> Task:
    facts = {
        "method": "popularity",
        "epsilon": 1.0,
        "delta": 1e-6,
        "low": 1,
        "high": 5,
        "people": LEAST,
        "cohort": LEAST,
        "least": LEAST,
        "items": catalogue_facts(Catalogue([f"i{k}" for k in range(ITEMS)])),
    } | changes
    return Task(**facts)


class Round:
    """The first round of a task in which one person is honest. All others are invented:
    they give nothing and add no noise, and whoever invented them knows it."""

    def __init__(self, noise: str, folder) -> None:
        self.made = assemble(task(noise=noise))
        self.layout = self.made.layouts(0)[0]
        self.name = f"{self.made.round(0).name}/{self.layout.name}"
        self.sd = spread_of(self.made.events[self.name]).sd
        self.names = [HONEST, *(f"{k:032x}" for k in range(LEAST - 1))]
        policy = Policy(epsilon=10, noise=("servers", "devices", "both"))
        rated = np.array([1, 5], np.uint32), np.array([2.0, -2.0])
        self.device = Device(self.made, 0, *rated, None, policy, b"s" * 32)
        self.state = pack_state(State(people=float(LEAST)).packed())
        self.store = ServerStore(folder / "store", MIGRATIONS, "aggregator")
        self.uploads = Uploads(self.store, 2)

    def told(self) -> Announcement:
        return Announcement(
            task=self.made.task.name,
            round=0,
            attempt=0,
            nonce="ab" * 16,
            key="cd" * 16,
            joined=LEAST,
            least=LEAST,
            enough=self.made.task.enough,
            seconds=9.0,
        )

    @property
    def key(self) -> bytes:
        """Of everybody's mask: they all have one secret here."""
        return round_key(SECRET, self.made.task.name, 0, "ab" * 16, digest(self.state))

    def masks(self, place: int = 0) -> np.ndarray:
        """The mask of one device, of a part."""
        part = self.made.layouts(0)[place]
        return mask(self.key, part.name, part.size, part.width, part.bits)

    def sent(self) -> list[bytes]:
        """All uploads, the honest one first; the others are masks of nothing."""
        own = self.device.answer(self.told(), memoryview(self.state), SECRET)
        header, _ = unpack(Upload, own)
        count = len(self.made.layouts(0))
        layouts = self.made.layouts(0)
        nothing = b"".join(packed(self.masks(k), layouts[k].bits) for k in range(count))
        return [own, *(pack(header, nothing) for _ in self.names[1:])]

    def revealed(self) -> bytes:
        """The aggregator's answer."""

        async def work() -> bytes:
            opening = Opening(
                task=self.made.task.name,
                round=0,
                attempt=0,
                parts=self.made.layouts(0),
                least=LEAST,
            )
            await self.uploads.open(opening, pack(opening))
            key = Key(self.made.task.name, 0, 0)
            sent = zip(self.names, self.sent(), strict=True)
            await asyncio.gather(
                *(self.uploads.keep(key, name, LEAST, body) for name, body in sent)
            )
            found = await self.uploads.reveal(key, False)
            assert found is not None
            assert await self.uploads.reveal(key, False) == found
            return found

        return asyncio.run(work())

    def own(self) -> np.ndarray:
        """What the honest person gives, which an attacker would like to know."""
        round_ = self.made.round(0)
        given = round_.contribute(self.device._block(round_), State(people=float(LEAST)))
        part = round_.parts[0]
        return self.device._weighted_integers(part, self.layout, given[part.name], 2)


@pytest.fixture
def arena(tmp_path):
    made = []

    def begin(noise: str) -> Round:
        made.append(Round(noise, tmp_path / f"{noise}{len(made)}"))
        return made[-1]

    yield begin
    for each in made:
        each.store.close()


def parts_of(found: bytes, round_: Round) -> tuple[Sum, list[Section]]:
    """An answer of the aggregator, read."""
    header, payload = unpack(Sum, found)
    words_ = payload[16 * header.cohort :]
    return header, sections(round_.made.layouts(0), header.rows, words_)


def bare(found: bytes, round_: Round) -> np.ndarray:
    """The first sum of an answer, with all masks off."""
    _, parts = parts_of(found, round_)
    masks = round_.masks() * np.array(LEAST, round_.masks().dtype)
    return integers(parts[0].words - masks, round_.layout.bits)


@pytest.mark.parametrize("noise", PRIVATE)
def test_a_recommender_that_invented_all_others_faces_a_whole_noise(arena, noise) -> None:
    """It takes the masks off, and knows that everybody else gave nothing."""
    round_ = arena(noise)
    left = bare(round_.revealed(), round_) - round_.own()
    share = 1 / round_.made.task.enough if noise == "both" else 0.0
    sd = round_.sd * (1 + share) ** 0.5
    assert fits(left.ravel(), gaussian_cdf(sd), sd)
    assert not fits(left.ravel(), gaussian_cdf(0.5 * sd), sd)
    assert left.std() > 0.8 * round_.sd


@pytest.mark.parametrize("noise", PRIVATE)
def test_an_aggregator_that_invented_all_others_faces_a_whole_noise(arena, noise) -> None:
    """It knows its own noise exactly, and sees what is published."""
    round_ = arena(noise)
    found = round_.revealed()
    total = RoundTotal(round_.made.layouts(0))
    for body in round_.sent():
        total.add(body)
    before = total.sections()[0].words
    after = parts_of(found, round_)[1][0].words
    known = integers(after - before, round_.layout.bits)
    opened = release(round_, found)
    assert not opened.spoilt
    part = round_.made.round(0).parts[0]
    told = np.rint(opened.released[part.name].value * part.bound.steps)
    left = told.ravel() - round_.own().ravel() - known.ravel()
    assert left.std() > 0.8 * round_.sd
    expected = round_.made.noise_sd(round_.name, LEAST) / part.bound.steps
    assert opened.released[part.name].sd == pytest.approx(expected)


def release(round_: Round, found: bytes) -> Opened:
    """What the recommender makes of an answer."""
    names = dict.fromkeys(round_.names, np.zeros(0, np.uint32))
    publics = dict.fromkeys(round_.names, bytes(32))
    attempt = Attempt(0, 0, "ab" * 16, "cd" * 16, names, publics)
    made, people = round_.made, float(LEAST)
    state = made.state(unpack_state(round_.state))
    told = made.scheme.brief(attempt, state, None, b"")
    return unmask(made, attempt, told, found, lambda _: round_.key, people)


def test_shares_alone_leave_one_share_if_all_others_are_invented(arena) -> None:
    """What `servers` and `both` are for: the same attack on `devices`."""
    round_ = arena("devices")
    left = bare(round_.revealed(), round_) - round_.own()
    share = round_.sd / round_.made.task.enough**0.5
    assert fits(left.ravel(), gaussian_cdf(share), share)
    events = tuple(round_.made.events.values())
    alone = one_share(events, round_.made.task.enough)
    assert alone is not None
    assert epsilon(events, 1e-6) <= 1.0
    assert epsilon(alone, 1e-6) > 6.0


def test_whether_a_round_is_spoilt_is_decided_after_both_noises(arena) -> None:
    """That decision is public. Made before the recommender's noise it would tell the
    aggregator, who knows its own, where the sum is."""
    round_ = arena("servers")
    found = round_.revealed()
    header, _ = parts_of(found, round_)
    part, layout = round_.made.round(0).parts[0], round_.layout
    edge = int(round_.made.span(round_.made.round(0), part))
    sums = []
    for place in range(len(round_.made.layouts(0))):
        one = round_.masks(place)
        sums.append(one * np.array(LEAST, one.dtype))
    sums[0][0] += to_words(np.full(layout.width, edge), layout.bits)
    who = b"".join(bytes.fromhex(name) for name in sorted(round_.names))
    sent = [
        packed(each, part.bits) for each, part in zip(sums, round_.made.layouts(0), strict=True)
    ]
    found = pack(header, who + b"".join(sent))
    outcomes = {release(round_, found).spoilt for _ in range(60)}
    assert outcomes == {False, True}


@pytest.mark.parametrize("change", [{"law": "", "spread": 0}, {"spread": 1}, {"law": "laplace"}])
def test_a_sum_with_another_noise_is_another_sum(change) -> None:
    """Uploads name the print of what they agree to, so a recommender cannot open a round
    with less noise than it announced."""
    parts = assemble(task()).layouts(0)
    weaker = (parts[0].model_copy(update=change), *parts[1:])
    assert layouts_print(weaker) != layouts_print(parts)


@pytest.mark.parametrize(
    ("law", "spread"),
    [
        ("gaussian", 0),
        ("gaussian", 1),
        ("laplace", 1 << 63),
        ("skellam", 1 << 54),
        ("", 5),
        ("cauchy", 1 << 20),
    ],
)
def test_a_noise_that_no_server_can_draw_is_no_layout(law, spread) -> None:
    facts = assemble(task()).layouts(0)[0].model_dump()
    with pytest.raises(ValidationError):
        PartLayout(**facts | {"law": law, "spread": spread})


@pytest.mark.parametrize("noise", ["servers", "devices", "both"])
def test_the_engine_and_the_wire_add_the_same_noise(noise) -> None:
    from tacit.data.sample import sample

    made = assemble(task(noise=noise))
    engine = Federated(sample(people=LEAST, ratings=200), 1, noise=noise)
    engine._cohort = LEAST
    round_ = made.round(0)
    part = round_.parts[0]
    path = f"{round_.name}/{part.name}"
    shape = (part.size, part.width)
    found = engine._noise(round_, part, made.events[path], shape)
    assert found.sd == pytest.approx(made.noise_sd(path, LEAST), rel=1e-6)
    assert 0.8 < found.steps.std() / found.sd < 1.2


@pytest.mark.parametrize("noise", ["servers", "devices", "both"])
def test_every_mode_costs_what_was_asked(noise) -> None:
    made = assemble(task(noise=noise))
    assert 0.99 < made.price(1e-6) <= 1.0


def test_a_server_never_draws_less_than_was_charged() -> None:
    for noise in ("servers", "both"):
        made = assemble(task(noise=noise))
        for event in made.events.values():
            spread = spread_of(event)
            charged = getattr(event, "sigma", None)
            charged = event.variance if charged is None else charged**2
            assert charged <= spread.variance <= charged * 1.001
    drawn = draw_server_noise(Spread("skellam", 10**6), 4000)
    assert fits(drawn, gaussian_cdf(1000.0), 1000.0)


def test_shares_alone_are_refused_unless_the_owner_accepts_them() -> None:
    with pytest.raises(SettingError, match="devices"):
        Policy().check(assemble(task(noise="devices")))
    for noise in ("servers", "both"):
        Policy(honest=0.1).check(assemble(task(noise=noise)))
    with pytest.raises(SettingError, match="honest"):
        Policy(noise=("devices",), honest=0.5).check(assemble(task(noise="devices")))


def test_a_statement_says_who_must_be_honest_and_what_collusion_leaves() -> None:
    made = assemble(task(noise="both"))
    told = Honesty("both", "at least 36 honest devices", 36, ("open", "tickets"))
    lines = told.lines(made.events.values(), "user", 1e-6)
    assert len(lines) == 6
    assert "epsilon" in lines[3]
    assert "anybody may enrol" in lines[4]
    assert "one-time ticket" in lines[5]
