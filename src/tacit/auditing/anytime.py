"""Evidence that may be looked at whenever one likes: runs are added one by one, and an audit
stops as soon as they are enough, or when nobody cares to pay for more.

A chance p of a run becomes the stake 1/(2 sqrt p), whose mean is at most 1 under the
hypothesis: the integral of 1/(2 sqrt p) over [0, 1] is 1, and p is never too small by more
than its law allows. The product over runs is then a fair game that nobody expects to win, so
its chance of ever reaching 1/mistake is at most `mistake` (Ville's inequality). Each run
may be designed from the runs before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf, log

from tacit.auditing.guesses import Guessed, chance_independent

HALVINGS = 40
MOST_MU = 12.0


def stake(chance: float) -> float:
    """The log of what a run with this chance is worth."""
    return inf if chance <= 0 else -log(2) - 0.5 * log(chance)


@dataclass
class RunsSoFar:
    """The runs so far."""

    runs: list[Guessed] = field(default_factory=list)

    def add(self, guessed: Guessed) -> None:
        """One more run, with canaries and coins of its own."""
        self.runs.append(guessed)

    def against(self, mu: float) -> float:
        """The log of the evidence against independent Gaussian noise of this mu."""
        return sum(stake(chance_independent(run, mu)) for run in self.runs)

    def refutes(self, mu: float, mistake: float) -> bool:
        """Whether this mu is refuted, however often one has looked."""
        return bool(self.runs) and self.against(mu) >= -log(mistake)

    def least_mu(self, mistake: float) -> float:
        """The mu below which every one is refuted by now."""
        if not self.refutes(0.0, mistake):
            return 0.0
        low, high = 0.0, MOST_MU
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if self.refutes(middle, mistake):
                low = middle
            else:
                high = middle
        return low


def until(runs: Iterable[Guessed], mu: float, mistake: float) -> Iterator[RunsSoFar]:
    """The evidence after each run; ends with the run that refutes `mu`."""
    evidence = RunsSoFar()
    for guessed in runs:
        evidence.add(guessed)
        yield evidence
        if evidence.refutes(mu, mistake):
            return
