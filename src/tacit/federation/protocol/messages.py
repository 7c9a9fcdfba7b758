"""The messages of the protocol, version 1: what each header says, checked by pydantic.

`tacit.federation.protocol.wire` has the frames that they travel in, and who sends what to
whom.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from tacit.errors import UsageError
from tacit.federation.protocol.packing import word_bytes

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:/ -]{1,120}$")]
LEAST_SPREAD = 1 << 10
MOST_SPREAD = 1 << 62
"""Of `gaussian` and `laplace`, in 2^-20 steps: what their samplers can draw."""
MOST_SKELLAM = 1 << 53
"""Squared steps: a larger variance is drawn in so many pieces that a round would wait."""
Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,128}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
Number = Annotated[int, Field(ge=0, lt=1 << 31)]
"""Of a round, an attempt, devices: what any store can hold."""
Place = Annotated[int, Field(ge=-1, lt=1 << 31)]
"""A number, or -1 for none yet."""
Stamp = Annotated[int, Field(ge=0, lt=1 << 63)]
"""Nanoseconds since 1970, for a store of 64 bits."""
Ticket = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]


class WireError(UsageError):
    """A message that is no message of this protocol.

    The sender gets a short refusal with this status, never a traceback, and nothing of what
    it sent is repeated.
    """

    status = 400


class VersionError(WireError):
    """A message of another version of the protocol."""

    status = 426


class Message(BaseModel):
    """A header: what every message says of itself.

    Members that are not known are refused, and so is a number that is none: what is read is
    what was meant, or nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    version: Literal[1] = 1


class PartLayout(BaseModel):
    """One part of a round as it is summed: `size` rows of `width` words of `bits` bits.

    Every side derives it from the task. The recommender opens a round with its layouts, and
    an upload names the print of those that the device has derived (`layouts_print`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Name
    size: int = Field(ge=1, le=10**8)
    width: int = Field(ge=1, le=10**6)
    bits: int = Field(ge=8, le=64)
    """Of a word: sums are modulo 2^bits (`tacit.federation.protocol.packing`)."""
    sparse: bool = False
    """Only the rows of a device's own items are sent, with their numbers: `paper` alone: it
    shows who rated what."""
    report: bool = False
    """Not summed: one (label, answer) of each device, randomized by itself, so in the open
    and kept as it is."""
    law: Literal["", "gaussian", "laplace", "skellam"] = ""
    """Of the noise that each server adds to the sum by itself; empty where none does."""
    spread: int = Field(default=0, ge=0, lt=1 << 63)
    """Of that law, as a whole number: of `gaussian` the standard deviation and of `laplace`
    the scale, in 2^-20 steps; of `skellam` the variance in squared steps
    (`tacit.noise.server_noise`)."""
    printed: Literal["", "add", "subtract"] = ""
    """What a printed scheme has the aggregator do to this sum, with a secret vector of its
    own: empty in every sound plan."""

    @model_validator(mode="after")
    def _some_noise(self) -> PartLayout:
        if bool(self.law) != bool(self.spread) or (self.law and self.report):
            raise ValueError("a law has a spread, and a report has neither")
        skellam = self.law == "skellam"
        low, high = (1, MOST_SKELLAM) if skellam else (LEAST_SPREAD, MOST_SPREAD)
        if self.law and not low <= self.spread <= high:
            raise ValueError("no server draws a noise of this spread")
        return self

    @property
    def word_size(self) -> int:
        """Bytes of one word in memory."""
        return word_bytes(self.bits)


class Opening(Message):
    """The recommender opens an attempt at a round at the aggregator, which takes uploads for
    it from here on. Signed by the recommender's identity."""

    task: Hex
    round: Number
    attempt: Number
    parts: tuple[PartLayout, ...]
    least: int = Field(ge=1, lt=1 << 31)
    """A sum over fewer devices is never revealed."""
    tickets: Digest = ""
    """The recommender's key for join tickets (`tacit.federation.protocol.tickets`)."""
    groups: int = Field(default=1, ge=1, le=1000)
    """Into how many sums those who arrive are cut, by chance; fewer if they are too few for
    so many least cohorts."""


class Join(Message):
    """A device asks for the next round, and waits for the answer, an `Announcement`.

    The payload lists rows of the catalogue where the scheme shows who rated what, and is
    empty otherwise. The MAC of the device is on all of it.
    """

    task: Hex
    stamp: Stamp
    """Nanoseconds since 1970 and larger than in any earlier request of this device: a copy
    is refused."""
    done: tuple[Place, Place] = (-1, -1)
    """The last (round, attempt) that this device has answered: it waits for another."""
    place: int = Field(default=0, ge=0, lt=1 << 53)
    """A number that the device drew for this task: plans that cut people into slices cut by it."""
    holds: Number = 0
    """How many rows this device has of the arrays that grow by a row in every round."""
    items: bool = False
    """Whether the payload lists rows, as 32-bit numbers in ascending order."""


class Announcement(Message):
    """The round that a device joins; the payload is public state, by name, as safetensors.

    A device takes none of it on trust: `least` and `enough` must be those of the task, the
    state must be one that the plan leads to, and the noise follows from the task alone.
    """

    task: Hex
    round: Number
    attempt: Number
    nonce: Hex
    """The mask of a device is keyed by its secret with the recommender and by this, fresh
    for every round."""
    key: Hex
    """Which of the recommender's exchange keys the secret is with."""
    joined: int
    least: int
    enough: int
    """Shares of the noise that suffice: where devices add any, each adds variance 1/enough of
    the whole."""
    seconds: float
    """Until the upload is late."""
    since: Number = 0
    """The payload has no rows before this one of the arrays that grow: the device holds
    them (`tacit.federation.protocol.growing_arrays`)."""
    whole: Digest = ""
    """Digest of the payload with these rows, where there are any."""
    ticket: Ticket = ""
    """The recommender's word that this device is in this attempt: its upload repeats it
    (`tacit.federation.protocol.tickets`)."""
    mixing: tuple[Hex, ...] = ()
    """Seeds that a printed scheme sends along (`tacit.papers.hua2015`); none in
    a sound plan."""


class Upload(Message):
    """A masked contribution, under the device's MAC.

    The payload is, part by part, the row numbers (where sparse) and the words: contribution,
    noise and mask, added modulo 2^bits.
    """

    task: Hex
    round: Number
    attempt: Number
    least: int = Field(ge=1, lt=1 << 31)
    """What the device was promised: the opening must say the same."""
    ticket: Ticket = ""
    """Of the announcement: nobody is counted who did not join."""
    rows: tuple[Number, ...] = ()
    """For each sparse part, how many rows follow."""
    layouts: str = Field(default="", pattern=r"^[0-9a-f]{0,32}$")
    """`layouts_print` of the parts as the device sees them: it agrees to these sums and
    reports and no others."""


class Sum(Message):
    """What the aggregator reveals, signed by its identity.

    The payload is, group by group, the ids of the devices that are in its sum (16 bytes
    each), then, part by part, rows (where sparse) and words.
    """

    task: Hex
    round: Number
    attempt: Number
    cohort: Number
    """Devices in all groups."""
    cohorts: tuple[Number, ...] = ()
    """Devices of each group, in the order of the payload."""
    rows: tuple[Number, ...] = ()


class Closing(Message):
    """The recommender asks for a sum, or gives an attempt up, under its signature.

    The answer is a `Sum`, or 409 if the attempt is never revealed: too few came, it was
    given up, or another attempt at the round was revealed before.
    """

    task: Hex
    round: Number
    attempt: Number
    expected: Number = 0
    """Devices that joined; when all have answered there is nothing to wait for."""
    wait: float = Field(default=0.0, ge=0, le=86_400)
    """Seconds until the round is over for those who have not."""
    give_up: bool = False
