"""A statement as a document that a privacy officer forwards: plain words first, the
technical annex after.

Its questions are those of NIST SP 800-226 (the annex) and of everybody else (before it). It
is made of blocks, which `render` turns into a page or into Markdown. Guarantee: nothing in it
is computed from ratings; it is the statement, what follows from its events, what the owner
declared, and what an audit of invented people found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.ledger.account.attacker import PRIORS, attacker
from tacit.ledger.statement import words
from tacit.ledger.statement.annex import annex
from tacit.ledger.statement.declared import UNSAID, Declared
from tacit.ledger.statement.statement import Statement
from tacit.ledger.statement.story import title, told_total


@dataclass(frozen=True)
class TextTable:
    """A table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = str | tuple[str, ...] | TextTable
"""A paragraph, a list, or a table."""
Section = tuple[str, tuple[Block, ...]]


@dataclass(frozen=True)
class Document:
    """Everything that is said, in order."""

    title: str
    lead: str
    notice: str
    cards: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    annex: tuple[Section, ...]
    footer: str


def document(
    statement: Statement,
    declared: Declared,
    *,
    audit: Sequence[Mapping[str, Any]] = (),
    evaluations: int | None = None,
) -> Document:
    """The document of one release. `audit` is what `tacit audit` found, `evaluations` how
    many evaluations stand in its book, None where no book was at hand."""
    s = statement
    sections = [
        ("Who promises what to whom", (_who(s, declared), _about(declared))),
        ("What that means", _meaning(s)),
        ("This release and all others", _others(s)),
        ("How choices were made", _choices(s, declared, evaluations)),
        ("How the noise is drawn", _noise(s)),
        ("What is public, and what is not protected", _limits(s)),
        ("How to check this", _check(s)),
        ("Attacks that were tried", _attacks(audit)),
    ]
    name = f" of {declared.name}" if declared.name else ""
    found = Document(
        title=f"Privacy statement{name}",
        lead=_lead(s, declared),
        notice=_notice(s),
        cards=tuple(_cards(s)),
        sections=tuple(sections),
        annex=annex(s, declared),
        footer=f"Made with tacit {s.software}. What stands under `as declared` was written by "
        "the owner and is no part of the signed statement.",
    )
    return found if not s.likes else _liked(found)


def _liked(found: Document) -> Document:
    """The same, in which likes are called likes."""

    def block(each: Block) -> Block:
        if isinstance(each, str):
            return words.as_likes(each)
        if isinstance(each, TextTable):
            rows = (
                row
                if row[0] in KEPT
                else tuple(words.as_likes(cell) for cell in row)
                for row in each.rows
            )
            return TextTable(each.columns, tuple(rows))
        return tuple(words.as_likes(item) for item in each)

    def changed(sections: tuple[Section, ...]) -> tuple[Section, ...]:
        return tuple(
            (words.as_likes(heading), tuple(block(each) for each in blocks))
            for heading, blocks in sections
        )

    return Document(
        title=found.title,
        lead=words.as_likes(found.lead),
        notice=words.as_likes(found.notice),
        cards=tuple((a, words.as_likes(b)) for a, b in found.cards),
        sections=changed(found.sections),
        annex=changed(found.annex),
        footer=found.footer,
    )


KEPT = ("Who promises", "Contact", "Data", "Period", "Purpose")
"""Rows of the owner's own words, which stay as they are."""


def _lead(s: Statement, declared: Declared) -> str:
    who = declared.by or "The owner of this model"
    if s.certified != "certified":
        return f"{who} publishes a model that Tacit does not certify."
    whom = declared.people or "everybody whose ratings were used"
    return (
        f"{who} promises {whom}: whoever sees the published {s.published} learns almost "
        f"nothing more about any one {_one(s)} than if that one had not been used."
    )


def _one(s: Statement) -> str:
    return {"user": "person", "rating": "rating", "value": "rating's value"}[
        s.unit
    ]


def _notice(s: Statement) -> str:
    if s.standing == "certified":
        return ""
    if s.certified == "certified":
        return (
            "Not checked: so says the folder of itself. Check it against the book or the "
            "owner's key before you forward it."
        )
    return f"{title(s)}: {s.reason}."


def _cards(s: Statement) -> Iterable[tuple[str, str]]:
    if s.certified != "certified" or s.epsilon is None:
        yield title(s), "what stands of the promise"
        return
    gain = attacker(s.events, s.unit, s.delta)
    yield (
        f"epsilon {s.epsilon:g}",
        f"at delta {s.delta:g}, for {words.UNIT_WORDS[s.unit]}",
    )
    yield (
        f"{100 * gain['best_guess']:.1f} of 100",
        "guesses about one of them are right at most; a coin is right 50 times",
    )
    if s.total is not None:
        cap = f" of {s.total.cap:g}" if s.total.cap is not None else ""
        yield (
            f"epsilon {s.total.epsilon:.3g}{cap}",
            "is the running total of these people"
            + ("" if cap else "; no cap is set"),
        )


def _who(s: Statement, declared: Declared) -> TextTable:
    rows = [
        ("Who promises", declared.by or UNSAID),
        ("To whom", declared.people or "everybody whose ratings were used"),
        ("What", _what(s)),
        ("When", declared.date or UNSAID),
        ("Contact", declared.contact or UNSAID),
        ("Data", declared.data or UNSAID),
        ("Period", declared.period or UNSAID),
        ("Purpose", declared.use or s.purpose or UNSAID),
    ]
    return TextTable(("Question", "Answer"), tuple(rows))


def _about(declared: Declared) -> str:
    said = [name for name in Declared.model_fields if getattr(declared, name)]
    if not said:
        return (
            "The owner has declared nothing here yet: `tacit statement MODEL --declare "
            'by="..." --declare data="..." --out FILE`.'
        )
    return "Names, dates, data and period are as declared by the owner."


def _what(s: Statement) -> str:
    if s.certified == "certified":
        return (
            f"The published {s.published}: ({s.epsilon:g}, {s.delta:g})-differential privacy "
            f"for {words.UNIT_WORDS[s.unit]}. {s.joint}"
        )
    if s.certified == "claimed":
        return f"Only what the authors of the method claim. {s.reason}."
    return f"Nothing: {s.reason}."


def _meaning(s: Statement) -> tuple[Block, ...]:
    if s.certified != "certified":
        return ("No theorem limits what an attacker learns from this release.",)
    gain = attacker(s.events, s.unit, s.delta)
    times = gain["odds_times"]
    rows = tuple(
        (f"{100 * prior:g} %", f"{100 * believed(prior, times):.1f} %")
        for prior in PRIORS
    )
    but = "without exception"
    if s.delta:
        but = f"but for one chance in {1 / s.delta:,.0f}"
    return (
        gain["words"],
        (
            f"However much is known besides, the odds that one {_one(s)} was used grow by a "
            f"factor of {times:.3g} at most, {but}."
        ),
        TextTable(
            (
                "Somebody believes beforehand that it was used",
                "and may believe it afterwards, at most",
            ),
            rows,
        ),
    )


def believed(prior: float, times: float) -> float:
    """A belief after its odds have grown."""
    odds = times * prior / (1 - prior)
    return odds / (1 + odds)


def _others(s: Statement) -> tuple[Block, ...]:
    if s.total is None:
        return ("No running total is known for this release.",)
    told: list[Block] = [told_total(s)]
    cap = s.total.cap
    told.append(
        f"A book holds these people to epsilon {cap:g}: what would cost more is refused."
        if cap is not None
        else "No cap is set: the owner may release more about the same people, and each "
        "release adds to the total. `tacit ledger cap` sets one."
    )
    if s.starts:
        told.append(
            f"It builds on {words.count(len(s.starts), 'earlier release')}, which the total "
            "has in it."
        )
    if s.schedule is not None:
        told.append(s.schedule.lines())
    return tuple(told)


def _choices(
    s: Statement, declared: Declared, evaluations: int | None
) -> tuple[Block, ...]:
    if evaluations is None:
        ran = (
            "Whether `tacit evaluate` was run on these ratings stands in the book, which was "
            "not at hand."
        )
    elif evaluations:
        ran = (
            "`tacit evaluate` was run on these ratings (entries of the book: "
            f"{evaluations}). What the owner saw there is not private, and settings chosen by "
            "it are not covered by this promise."
        )
    else:
        ran = "No evaluation on these ratings stands in the book."
    return (
        f"Who chose epsilon and delta, and why: {declared.decided or UNSAID}",
        ran,
        "The rest follows from public facts before a rating is read:",
        s.settings or ("no setting was chosen",),
    )


def _noise(s: Statement) -> tuple[Block, ...]:
    if s.certified == "not private":
        return ("No privacy noise was drawn.",)
    return (
        (
            "The ledger is charged first, in one transaction; then noise is drawn once, exactly, "
            "on whole numbers, from the very event that was charged. Its bits come from a "
            "cryptographic generator (AES in counter mode) that takes a fresh key from the "
            "operating system for every release. There is no seed: nobody can draw it again."
        ),
    )


def _limits(s: Statement) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if s.public:
        blocks += ["Taken as public:", s.public]
    blocks += ["Not protected:", s.not_protected]
    return tuple(blocks)


def _check(s: Statement) -> tuple[Block, ...]:
    if s.signature is None:
        return (
            "It is not signed: it can be checked against the book only, with `tacit verify MODEL`.",
        )
    rows = (
        ("SHA-256 of what is published", s.artefact or ""),
        ("Public key that signed", s.signer or ""),
        (
            "Entry of the book",
            f"{s.book_number} of {s.population}: {s.book_head}",
        ),
    )
    return (
        (
            "Get the owner's public key by a way that you trust (`tacit ledger key` writes it), "
            "then run `tacit verify MODEL --key FILE`. It fails if a single number of the model or "
            "a word of its statement was changed."
        ),
        TextTable(("What", "Value"), rows),
    )


def _attacks(audit: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    if not audit:
        return ("No audit lies beside this model (`tacit audit`).",)
    rows = tuple(
        (
            str(each.get("attack", "")),
            _number(each.get("claimed")),
            _number(each.get("measured")),
            str(each.get("verdict", "")),
        )
        for each in audit
    )
    return (
        (
            "Fits like this one, on invented people. An attack can refute a promise and never "
            "prove one."
        ),
        TextTable(("Attack", "Claimed", "Measured at least", "Verdict"), rows),
    )


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else "–"
