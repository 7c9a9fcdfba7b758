"""All claims, in the order in which they are printed; and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tacit.auditing.verdict import MISTAKE, AttackFinding
from tacit.papers.attacks.claim import PaperClaim
from tacit.papers.hua2015 import claims as hua
from tacit.papers.mcsherry2009 import claims as mcsherry
from tacit.papers.shin2018 import claims as shin
from tacit.papers.wang_tang import claims as wang_tang
from tacit.papers.xian2017 import claims as xian

CLAIMS: tuple[PaperClaim, ...] = (
    *mcsherry.CLAIMS,
    *hua.CLAIMS,
    *wang_tang.CLAIMS,
    *xian.CLAIMS,
    *shin.CLAIMS,
)
Progress = Callable[[int, int, str], None]


class Audited(NamedTuple):
    """A claim, and what its attack found."""

    claim: PaperClaim
    finding: AttackFinding

    @property
    def as_expected(self) -> bool:
        """Whether what is false fell, and what holds did not."""
        if self.claim.expected == "open":
            return True
        return self.finding.fell == (self.claim.expected == "false")

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {**self.claim.facts(), **self.finding.facts()}


def audit_claims(
    names: Iterable[str] = (),
    *,
    quick: bool = False,
    mistake: float = MISTAKE,
    progress: Progress | None = None,
) -> list[Audited]:
    """Attack every claim, or those that are named. `mistake` is the chance that any claim
    at all is refuted that holds."""
    requested = set(names)
    selected = [claim for claim in CLAIMS if not requested or claim.name in requested]
    audited = []
    for index, claim in enumerate(selected):
        if progress is not None:
            progress(index, len(selected), claim.name)
        finding = claim.audit(mistake / len(CLAIMS), quick)
        audited.append(Audited(claim, finding))
    return audited
