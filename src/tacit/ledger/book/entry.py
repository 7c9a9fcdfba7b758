"""One entry of a book, as data and as text.

An entry is stored as canonical JSON that contains its number and the hash of the entry
before it; its own hash is the SHA-256 of that text. Hashes are taken over the stored text,
never over a re-written one, so entries stay valid when later versions of Tacit learn new
fields.
"""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

from tacit.data.held_out import HeldOut
from tacit.ledger.account.event import Event
from tacit.units import Unit

Relation = Literal["person", "participant", "record"]
"""What two neighbouring data sets differ in: `person`, one person (or cell) more or less;
`participant`, the same participants, one of whom contributes nothing; `record`, any two
records of one person (the local model)."""


class Entry(BaseModel):
    """One line of the ledger: a charge reserved, its outcome, a new cap, or the owner's declaration
    that these people are not those of another population.

    `hash` is not part of the hashed text."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    number: int
    population: str
    kind: Literal["reserve", "commit", "cap", "people", "week"]
    time: str
    version: str
    """Of Tacit, for `affected`."""
    previous: str
    hash: str = ""

    purpose: str = ""
    method: str = ""
    unit: Unit | None = None
    events: tuple[Event, ...] = ()
    limit: int | None = None
    """At most so many ratings of a person were used: group privacy under a `user` cap."""
    budget: tuple[float, float] | None = None
    """What the plan was meant to cost: (epsilon, delta) at `unit`."""
    accepted: bool = False
    """The owner accepted a release that no bound covers (`--accept-unbounded`)."""
    owner_only: bool = False
    totals: dict[Unit, float] = {}
    """Composed epsilon, this entry included, under each cap that held."""
    relation: Relation | None = None
    """What neighbours differ in; None in entries of versions that did not say."""
    token: str | None = None
    """Names one request: asked again with it, the book answers with the entry it has."""
    starts: tuple[tuple[str, int], ...] | None = None
    """Population and number of every reservation whose release this one builds on."""
    apart: HeldOut | None = None
    """Which ratings the fit was not shown."""

    of: int | None = None
    """A commit or a week: the number of its reservation."""
    artefact: str | None = None
    """A commit, or a week that ends: SHA-256 of what was made."""
    week: int | None = None
    """A week of a calendar, whose reservation is `of`: it begins with the people who are
    counted, and ends with its artefact."""
    counted: str | None = None
    """A week that begins: digest of the keyed list of everybody counted so far."""
    left: str | None = None
    """A week that ends: keyed digest of the arrays that its owner keeps of it; None in entries
    of versions that did not say."""
    cap: tuple[float, float] | None = None
    """A cap: (epsilon, delta) at `unit`."""
    others: tuple[str, ...] | None = None
    """People: populations of whom the owner says that these are other people, although
    data that look the same were charged to them."""

    @property
    def evaluation(self) -> bool:
        """Whether this entry paid for an evaluation and nothing else."""
        return bool(self.events) and all(event.kind == "evaluation" for event in self.events)


def genesis(population: str) -> str:
    """The hash that the first entry of a population builds on."""
    return sha256(canonical({"book": "tacit", "population": population}))


def canonical(value: object) -> str:
    """JSON in the one form that is hashed."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def sha256(text: str) -> str:
    """The digest of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def write(entry: Entry) -> tuple[str, str]:
    """The text to store and its hash."""
    text = canonical(entry.model_dump(mode="json", exclude={"hash"}, exclude_none=True))
    return text, sha256(text)
