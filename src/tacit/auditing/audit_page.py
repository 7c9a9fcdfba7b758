"""An audit as a page that stands alone: what was claimed, what was tried, what was reached,
and what this does not show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

from tacit import __version__
from tacit.auditing.attacks import WORST
from tacit.auditing.verdict import AttackFinding
from tacit.page import card, cards, page, paragraph, table

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit

COLUMNS = (
    "method",
    "unit",
    "calibration",
    "claimed",
    "proven",
    "measured",
    "worst pair",
    "best attack",
    "verdict",
)
READING = (
    (
        "Claimed is the epsilon that a statement names. Proven is what the accountant computes "
        "from the noise that was drawn. Measured is an epsilon that real fits surely cost, but "
        "for the chance of a mistake that is named above: an attack told people apart that "
        "well. The worst pair is computed, not measured: what the most different neighbours "
        "that a search found would cost, if the noise is what its event says."
    ),
    (
        "Measured above claimed refutes the claim. Measured below claimed proves nothing more than "
        "that this attack reached so far: the promise rests on its proof, not on the audit."
    ),
    "A deterministic leak needs no statistics: something private was released without noise.",
)
LIMITS = (
    (
        "An audit finds faults; it cannot show that there are none. It attacks the software on "
        "invented people (or, where said, on the owner's own), not the machine that runs it, its "
        "operators, its backups, or what a person is shown."
    ),
    (
        "The figure from a transcript takes for granted what a statement says: that the noise of "
        "different numbers is independent. The note of each finding also has the figure that takes "
        "nothing for granted."
    ),
    (
        "It serves as a documented test for an evaluation under NIST SP 800-226 and for a file in "
        "the sense of EDPB Opinion 28/2024 (tests of whether a model gives people away). It is "
        "neither a certificate nor a legal opinion."
    ),
)
PAIRS = ("method", "unit", "what was seen", "witness")


def epsilon_text(number: float) -> str:
    """Two decimals; infinite is said."""
    return "infinite" if isinf(number) else f"{number:.2f}"


def line(audit: Audit, finding: AttackFinding) -> list[str]:
    """One row of the table: a target, by the attack that did best."""
    proven = "–" if isinf(finding.proven) else f"{finding.proven:.2f}"
    claimed = "–" if finding.calibration == "none" else f"{finding.claimed:g}"
    same_target = [candidate for candidate in audit.findings if candidate.target == finding.target]
    measured = max((f.measured for f in same_target if f.mistake), default=0.0)
    pairs = [f.measured for f in same_target if not f.mistake]
    return [
        finding.method,
        finding.unit,
        finding.calibration,
        claimed,
        proven,
        epsilon_text(measured),
        epsilon_text(max(pairs)) if pairs else "–",
        finding.attack,
        finding.verdict_text,
    ]


def audit_page(audit: Audit) -> str:
    """The whole page."""
    best = audit.best
    fell = [finding for finding in best if finding.fell]
    sound = [f for f in best if f.calibration == "sound"]
    broken = [f for f in sound if f.fell]
    top = cards(
        [
            card(f"{len(best)}", "claims attacked"),
            card(
                f"{len(broken)} of {len(sound)}",
                "sound claims that did not stand",
                warn=bool(broken),
            ),
            card(f"{len(fell)}", "claims that did not stand in all"),
            card(f"{audit.mistake:g}", "chance that any true claim is called refuted"),
        ]
    )
    rows = [line(audit, finding) for finding in best]
    every = [
        [
            finding.method,
            finding.unit,
            finding.attack,
            finding.box,
            epsilon_text(finding.measured) if finding.mistake else "–",
            "–" if finding.mistake else epsilon_text(finding.measured),
            f"{finding.delta:g}",
            finding.note,
            finding.witness,
        ]
        for finding in audit.findings
    ]
    columns = (
        "method",
        "unit",
        "attack",
        "box",
        "measured",
        "computed",
        "delta",
        "what was seen",
        "witness",
    )
    sections = [
        ("", top),
        ("The claims", table(COLUMNS, rows)),
        ("How to read it", "".join(paragraph(text) for text in READING)),
        ("What it cannot show", "".join(paragraph(text) for text in LIMITS)),
        ("Every attack", table(columns, every)),
    ]
    footer = f"Tacit {__version__}"
    if audit.command:
        footer += f", by: {audit.command}"
    if audit.quick:
        footer += "; quick: smaller crowds, so less is reached"
    return page(
        "Audit of privacy claims",
        sections,
        lead="Attacks on what is promised about single people, and how far each got.",
        footer=footer,
    )


# An audit as tables in Markdown, for a page of results.


def audit_text(audit: Audit) -> str:
    """The command, one row a claim, and the pairs that a search found."""
    claims = _table(COLUMNS, (line(audit, finding) for finding in audit.best))
    sure = (
        f"The chance that any true claim of the table is called refuted is at most "
        f"{audit.mistake:g}."
    )
    pairs = [
        (finding.method, finding.unit, finding.note, finding.witness)
        for finding in audit.findings
        if finding.attack == WORST
    ]
    text = f"`{audit.command}`\n\n{claims}\n\n{sure}\n"
    if pairs:
        text += f"\nThe worst pair of neighbours that a search found:\n\n{_table(PAIRS, pairs)}\n"
    return text


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    every = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in every)


# One table of attacks with what is said about it, as Markdown and as a page that stands
# alone.


class Sheet(NamedTuple):
    """A table with what is said about it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    words: tuple[str, ...]
    """How to read it."""
    more_title: str
    more: list[str]
    """In a file only."""

    def markdown(self, command: str) -> str:
        """With the command and the day."""
        lines = [
            f"# {self.title}",
            "",
            f"By `{command}`, {_today()}.",
            "",
            *(f"{line}\n" for line in self.words),
            _line(self.columns),
            _line(["---"] * len(self.columns)),
            *(_line(row) for row in self.rows),
            "",
            f"## {self.more_title}",
            "",
            *(f"- {line}" for line in self.more),
        ]
        return "\n".join(lines) + "\n"

    def html(self, command: str) -> str:
        """The same as a page, for the file of a privacy officer."""

        paragraphs = "".join(paragraph(line) for line in self.more)
        sections = [
            ("", "".join(paragraph(line) for line in self.words)),
            ("The table", table(self.columns, self.rows)),
            (self.more_title, paragraphs),
            ("What it cannot show", "".join(map(paragraph, LIMITS))),
        ]
        return page(
            self.title,
            sections,
            lead="Attacks on what is promised about single people, and which claims fell.",
            footer=f"Tacit {__version__}, {_today()}, by: {command}",
        )


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
