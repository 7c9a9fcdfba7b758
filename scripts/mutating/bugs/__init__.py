"""All bugs, by the room that they are planted in."""

from __future__ import annotations

from mutating.bug import Bug
from mutating.bugs.bound import BOUND
from mutating.bugs.engine import ENGINE
from mutating.bugs.federation import FEDERATION
from mutating.bugs.fitting import FITTING
from mutating.bugs.ledger import LEDGER
from mutating.bugs.noise import NOISE

BUGS: tuple[Bug, ...] = (*NOISE, *BOUND, *LEDGER, *FITTING, *FEDERATION, *ENGINE)
