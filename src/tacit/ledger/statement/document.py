"""A statement as a document that a privacy officer forwards: plain words first, the
technical annex after.

Its questions are those of NIST SP 800-226 (the annex) and of everybody else (before it). It
is made of blocks, which `render` turns into a page or into Markdown. Guarantee: nothing in it
is computed from ratings; it is the statement, what follows from its events, what the owner
declared, and what an audit of invented people found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.ledger.account.event import TuningEvent
from tacit.ledger.account.odds import PRIORS, attacker, but_for
from tacit.ledger.account.rounded import percent, up
from tacit.ledger.statement import words
from tacit.ledger.statement.composed import card, chained, evaluated, render_composition
from tacit.ledger.statement.declared import Declared, as_declared
from tacit.ledger.statement.registry import accounting
from tacit.ledger.statement.statement import Statement, Total
from tacit.ledger.statement.story import bounds, mechanisms, title

Findings = Sequence[Mapping[str, Any]]
CLAIM = ("method", "unit", "calibration")
COLUMNS = ("Attack", "Claimed", "Measured at least", "Computed, worst pair", "Verdict")
HAZARDS = (
    (
        "floating point: sums and noise are whole numbers, bounds are checked after rounding, and "
        "samplers are exact, so the attack of Mironov (2012) has nothing to read"
    ),
    (
        "generator: AES in counter mode, keyed by the operating system anew for every release, "
        "safe under fork and threads, without a seed"
    ),
    (
        "timing and memory: not protected; results are published, not answered one by one, so "
        "nobody outside can time a query"
    ),
    "order and threads: whole numbers add up to the same sum in every order",
)
TRUSTED_BIAS = (
    "Noise is the same for every item, so it hides rare items and small groups more than common "
    "ones: expect worse lists for tastes that few people share. `tacit evaluate --report` shows "
    "how much, to the owner."
)
HAZARDS_UNBOUNDED = (
    "floating point and generator: not examined, because no promise rests on its noise",
    HAZARDS[2],
)
"""Of a release that is not certified."""
FAMILIES = {
    "popularity": "first-order",
    "bias": "first-order",
    "bayes": "bayes",
    "ease": "covariance",
    "covariance-": "covariance",
    "knn-": "covariance",
    "pnbm-": "pnbm",
    "als": "mf",
    "mf-": "mf",
    "svd": "mf",
    "one-bit": "one-bit",
}
"""How the names of methods begin, and the page of each."""


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
    warn: bool
    """Whether the cards are a warning."""
    sections: tuple[Section, ...]
    annex: tuple[Section, ...]
    footer: str


def document(
    statement: Statement,
    declared: Declared,
    *,
    audit: Sequence[Mapping[str, Any]] = (),
    evaluations: int | None = None,
    later: int = 0,
    now: Total | None = None,
    why: str = "",
) -> Document:
    """The document of one release. `audit` is what `tacit audit` found. From its book, where
    that was at hand: `evaluations` before this release, `later` ones, and the total of today.
    `why` says what hindered a check."""
    s = statement
    sections = [
        ("Who promises what to whom", (_parties_table(s, declared), _about(declared))),
        ("What that means", _meaning(s)),
        ("This release and all others", tuple(render_composition(s, now))),
        ("How choices were made", _choices(s, declared, evaluations, later)),
        ("How the noise is drawn", _noise(s)),
        ("What is public, and what is not protected", _limits(s)),
        ("How to check this", _check(s)),
        ("Attacks that were tried", _attacks(s, findings_about(s, audit))),
    ]
    name = f" of {declared.name}" if declared.name else ""
    assembled = Document(
        title=f"Privacy statement{name}",
        lead=_lead(s, declared),
        notice=_notice(s, why),
        cards=tuple(_cards(s, now)),
        warn=s.certified != "certified",
        sections=tuple(sections),
        annex=annex(s, declared),
        footer=f'Made with tacit {s.software}. What is marked "as declared" was written '
        "by the owner and is no part of the signed statement.",
    )
    return assembled if not s.likes else _liked(assembled)


def _liked(source: Document) -> Document:
    """The same, in which likes are called likes."""

    def block(content: Block) -> Block:
        if isinstance(content, str):
            return words.as_likes(content)
        if isinstance(content, TextTable):
            rows = (
                row if row[0] in KEPT else tuple(words.as_likes(cell) for cell in row)
                for row in content.rows
            )
            return TextTable(content.columns, tuple(rows))
        return tuple(words.as_likes(item) for item in content)

    def changed(sections: tuple[Section, ...]) -> tuple[Section, ...]:
        return tuple(
            (words.as_likes(heading), tuple(block(content) for content in blocks))
            for heading, blocks in sections
        )

    return replace(
        source,
        lead=words.as_likes(source.lead),
        notice=words.as_likes(source.notice),
        cards=tuple((a, words.as_likes(b)) for a, b in source.cards),
        sections=changed(source.sections),
        annex=changed(source.annex),
    )


KEPT = (
    "Status",
    "Who promises",
    "Who publishes",
    "Contact",
    "Data",
    "Period",
    "Purpose",
    "Note of the fit",
)
"""Rows of the owner's own words, which stay as they are."""


def _lead(s: Statement, declared: Declared) -> str:
    owner = declared.by or "The owner of this model"
    if s.certified != "certified":
        return f"{owner} publishes a model that Tacit does not certify."
    return (
        f"{owner} promises {_whom(s, declared)}: whoever sees the published {s.published} "
        f"learns only so much more about any one {_unit_noun(s)} than {_otherwise(s)}; the figures "
        "below say how much at most." + ("" if s.unit == "user" else f" {ALONE}")
    )


ALONE = "This is about single ratings: a person with many of them is protected so many times less."


def _whom(s: Statement, declared: Declared) -> str:
    whom = declared.people or "everybody whose ratings were used"
    if words.PUBLIC_PEOPLE in s.not_protected:
        whom += ", but for those whose ratings are taken as public"
    return whom


def _otherwise(s: Statement) -> str:
    """The world that must look the same."""
    if s.neighbours == words.RECORDS:
        return "if that person had rated otherwise"
    return {
        "user": "if that person's ratings had not been used",
        "rating": "if that rating had not been used",
        "value": "if it had been another",
    }[s.unit]


def _unit_noun(s: Statement) -> str:
    return {"user": "person", "rating": "rating", "value": "rating's value"}[s.unit]


def _notice(s: Statement, why: str) -> str:
    if s.standing == "certified":
        return ""
    if s.certified == "certified":
        return (
            f"Not checked{f' ({why})' if why else ''}: so says the folder of itself. "
            "Check it against the book or the "
            "owner's key before you forward it."
        )
    return f"{title(s)}: {s.reason}."


def _cards(s: Statement, current_total: Total | None) -> Iterable[tuple[str, str]]:
    if s.certified != "certified" or s.epsilon is None:
        yield title(s), UNPROMISED[s.certified]
        return
    gain = attacker(s.events, s.unit, s.delta)
    yield (f"epsilon {s.epsilon:.12g}", f"at delta {s.delta:.12g}, for {words.UNIT_WORDS[s.unit]}")
    yield (
        f"{percent(gain['best_guess'])} of 100",
        "guesses about one of them are right at most; a coin is right 50 times",
    )
    yield from filter(None, (chained(s), card(s, current_total)))


UNPROMISED = {
    "claimed": "its authors claim a promise that no theorem supports",
    "not private": "nothing is promised to anybody",
}


def _parties_table(s: Statement, declared: Declared) -> TextTable:
    sure = s.certified == "certified"
    rows = [
        ("Status", _status(s)),
        ("Who promises" if sure else "Who publishes", as_declared(declared.by)),
        (
            "To whom" if sure else "Whose ratings",
            _whom(s, declared) + (" (as declared)" * bool(declared.people)),
        ),
        ("What", _promise(s)),
        ("When", as_declared(declared.date)),
        ("Contact", as_declared(declared.contact)),
        ("Data", as_declared(declared.data)),
        ("Period", as_declared(declared.period)),
        ("Purpose", as_declared(declared.use)),
        *((("Note of the fit", s.purpose),) if s.purpose else ()),
    ]
    return TextTable(("Question", "Answer"), tuple(rows))


def _about(declared: Declared) -> str:
    if not any(getattr(declared, name) for name in Declared.model_fields):
        return (
            "The owner has declared nothing here yet: `tacit statement MODEL --declare "
            'by="..." --declare data="..." --out FILE`.'
        )
    return 'What is marked "as declared" is the owner\'s own word.'


def _promise(s: Statement) -> str:
    if s.certified == "certified":
        return (
            f"The published {s.published}: ({s.epsilon:.12g}, {s.delta:.12g})-differential privacy "
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
    beliefs = tuple(
        (f"{100 * prior:g} %", f"{percent(believed(prior, times))} %") for prior in PRIORS
    )
    return (
        _guessed(s, gain),
        (
            f"However much is known besides, the odds {_hypothesis(s)} grow by a "
            f"factor of {up(times, 3)} at most, {but_for(s.delta or 0.0)}."
        ),
        TextTable(
            ("Somebody believes this beforehand", "and may believe it afterwards, at most"), beliefs
        ),
    )


def _hypothesis(s: Statement) -> str:
    """What somebody wants to tell from the release."""
    if s.neighbours == words.RECORDS:
        return "that one person's ratings are certain ones and not others"
    return {
        "user": "that one person's ratings were used",
        "rating": "that one certain rating was used",
        "value": "that one certain rating has a certain value",
    }[s.unit]


def believed(prior: float, times: float) -> float:
    """A belief after its odds have grown."""
    odds = times * prior / (1 - prior)
    return odds / (1 + odds)


def _choices(
    s: Statement, declared: Declared, evaluations: int | None, later: int
) -> tuple[Block, ...]:
    ran = evaluated(evaluations, later)
    return (
        f"Who chose epsilon and delta, and why: {as_declared(declared.decided)}",
        ran,
        "The rest follows from public facts before a rating is read:",
        s.settings or ("no setting was chosen",),
    )


def _noise(s: Statement) -> tuple[Block, ...]:
    if s.certified == "not private":
        return ("No privacy noise was drawn.",)
    if s.certified == "claimed":
        return (
            (
                "The ledger is charged first. Noise is drawn as the method's authors print it, and "
                "nothing is promised about it."
            ),
        )
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
    if s.signature is None and s.book_number is None:
        return (
            (
                "It is not signed, and nothing was charged to a book: there is nothing that it "
                "could be checked against."
            ),
        )
    if s.signature is None:
        return (
            "It is not signed: it can be checked against the book only, with `tacit verify MODEL`.",
        )
    rows = (
        ("SHA-256 of what is published", s.artefact or ""),
        ("Public key that signed", s.signer or ""),
        ("Entry of the book", f"{s.book_number} of {s.population}: {s.book_head}"),
    )
    return (
        (
            "Get the owner's public key by a way that you trust (`tacit ledger key` writes it), "
            "then run `tacit verify MODEL --key FILE`. It fails if a single number of the model or "
            "a word of its statement was changed."
        ),
        TextTable(("What", "Value"), rows),
    )


def _attacks(s: Statement, findings: Findings) -> tuple[Block, ...]:
    if not findings:
        return ("No audit of this method and unit lies beside this model (`tacit audit`).",)
    return (findings_lead(s, findings), TextTable(COLUMNS, finding_rows(findings)))


def _guessed(s: Statement, gain: Mapping[str, Any]) -> str:
    if s.neighbours != words.RECORDS:
        return str(gain["words"])
    return (
        "Somebody who knows everything else and must say which of two sets of ratings is one "
        f"person's is right {percent(gain['best_guess'])} times in a hundred at most; a coin "
        "is right 50 times."
    )


def _status(s: Statement) -> str:
    if s.standing == "certified":
        return f"CERTIFIED at unit {s.unit}, checked against {s.checked}"
    return title(s)


# What an audit says of one release: only findings about the same claim, and what was
# measured apart from what was computed.


def findings_about(statement: Statement, audit: Findings) -> Findings:
    """The findings about the method, unit and calibration of this release."""
    claim = (statement.method, statement.unit, statement.calibration)
    return [finding for finding in audit if tuple(finding.get(name) for name in CLAIM) == claim]


def findings_lead(statement: Statement, findings: Findings) -> str:
    """What was attacked: never this very fit, and not always at its epsilon."""
    s = statement
    text = (
        f"Fits of the same method (`{s.method}`, unit `{s.unit}`, calibration "
        f"`{s.calibration}`) on invented people, not this model. "
    )
    release_epsilon = s.epsilon if s.epsilon is not None else s.claimed_epsilon
    other_epsilons = {finding.get("claimed") for finding in findings} - {release_epsilon}
    if other_epsilons and release_epsilon is not None:
        at = ", ".join(sorted(_number(finding) for finding in other_epsilons))
        text += f"They were made at epsilon {at}; this release is at {release_epsilon:g}. "
    return (
        text + "An attack can refute a promise and never prove one. What is computed follows "
        "from the law of the noise and was seen in no fit."
    )


def finding_rows(findings: Findings) -> tuple[tuple[str, ...], ...]:
    """One for each attack. Without a chance of a mistake a figure was computed."""
    return tuple(_row(finding) for finding in findings)


def _row(finding: Mapping[str, Any]) -> tuple[str, ...]:
    figure = _number(finding.get("measured"))
    computed = finding.get("mistake") == 0
    return (
        str(finding.get("attack", "")),
        _number(finding.get("claimed")),
        "–" if computed else figure,
        figure if computed else "–",
        str(finding.get("verdict", "")),
    )


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else "–"


# The technical annex of a statement's document: the questions of NIST SP 800-226, answered
# one by one.


def hazards(s: Statement) -> tuple[str, ...]:
    """What was ruled out, where a promise rests on the noise."""
    return HAZARDS if s.certified == "certified" else HAZARDS_UNBOUNDED


def _bias(s: Statement) -> tuple[str, ...]:
    return () if s.certified == "not private" else (TRUSTED_BIAS,)


def _forgetting(s: Statement) -> str:
    """What a model that is out means for somebody who wants to be forgotten."""
    later = " A later fit without them is `tacit fit --without FILE`."
    if s.certified != "certified":
        return (
            "A published model cannot be made to forget, and no theorem limits what this one "
            f"tells about each of these people.{later}"
        )
    if s.unit != "user":
        return (
            "A published model cannot be made to forget. This one is private in single ratings, "
            f"not in a person with all of that person's ratings.{later}"
        )
    return (
        "A published model cannot be made to forget. This one is private in each of these "
        "people, as stated above; whether that satisfies a request to be forgotten is for "
        f"whoever must answer it to decide.{later}"
    )


def variant(s: Statement) -> str:
    """The name of the variant of differential privacy."""
    if s.certified != "certified":
        return "None is certified"
    if s.delta == 0:
        return "Pure DP"
    pure = [epsilon for epsilon, delta in s.profile if delta == 0]
    if pure:
        return f"Approximate DP; Pure DP holds as well, at epsilon {up(pure[0])}"
    return "Approximate DP"


def why(s: Statement) -> str:
    """Why this variant and this noise."""
    if s.certified != "certified":
        reason = s.reason or "nothing bounds it"
        return f"{reason[:1].upper()}{reason[1:]}."
    if s.delta == 0:
        return (
            "Epsilon alone bounds it, without a chance of failure, because every release is a "
            "pure one."
        )
    if any(delta == 0 for _, delta in s.profile):
        return (
            "Every report or release is a pure one; together they cost less if a chance of "
            f"{s.delta:g} is allowed with which the odds may grow by more than stated."
        )
    return (
        "Many numbers are released together, and for those Gaussian noise is far smaller than "
        f"Laplace noise of the same promise; its price is delta, here {s.delta:g}: any "
        "outcome may be likelier with one's data by that much more than e^epsilon times."
    )


def annex(
    s: Statement, declared: Declared
) -> tuple[tuple[str, tuple[str | tuple[str, ...], ...]], ...]:
    """Sections of (question, blocks)."""
    profile = "; ".join(f"epsilon {up(epsilon)} at delta {delta:g}" for epsilon, delta in s.profile)
    sections: list[tuple[str, tuple[str | tuple[str, ...], ...]]] = [
        ("Privacy unit", (f"`{s.unit}`: {words.UNIT_WORDS[s.unit]}.",)),
        (
            "Neighbouring data sets",
            (f"Two data sets that must look alike differ in this: {s.neighbours}.",),
        ),
        ("Parameters", (f"All of these hold at once: {profile}." if profile else "None holds.",)),
        ("Variant, and why", (f"{variant(s)}. {why(s)}",)),
        ("Trust model", (s.trust, *((s.honest,) if s.honest else ()))),
        (
            "Mechanism",
            (
                f"Method `{s.method}`, calibration `{s.calibration}`, engine `{s.engine}`.",
                *(((*s.outside,),) if s.outside else ()),
                "Released, on a scale that is 4 wide, whatever the ratings' own is:",
                tuple(mechanisms(s)) or ("nothing with noise",),
                "What one person can add at most:",
                tuple(bounds(s)) or ("nothing bounds it",),
                proven(s),
            ),
        ),
        ("Hazards of the implementation", (hazards(s),)),
        ("Composition, now and over time", (f"Accountant: {accounting(s)}.", _over_time(s))),
        (
            "How data are collected, secured and deleted",
            (
                (
                    f"collected: {as_declared(declared.collected)}",
                    f"secured: {as_declared(declared.secured)}",
                    f"deleted: {as_declared(declared.deleted)}",
                ),
                _forgetting(s),
            ),
        ),
        ("Usefulness, and bias against small groups", (as_declared(declared.utility), *_bias(s))),
        ("Who decided", (as_declared(declared.decided),)),
    ]
    if s.supported:
        sections.append(("Of delta", (f"{s.supported}.",)))
    return tuple(sections)


def _over_time(s: Statement) -> str:
    if s.total is None:
        if s.book_number is not None:
            return (
                f"It is entry {s.book_number} of the book of {s.population}, where it is "
                "counted as a release without a bound and adds to no total."
            )
        return "No book adds this up with other releases."
    return (
        "Every release about these people is charged to one hash-chained book before it is "
        f"drawn, and added up for this: {s.relation}."
    )


# Pages of proofs for a statement.
def proofs(statement: Statement) -> tuple[str, ...]:
    """Pages of the documentation; that of the method first. None for a method of another
    package, whose maker proves it."""
    s = statement
    pages = [page for name, page in FAMILIES.items() if s.method.startswith(name)]
    if s.published != "model":
        pages.append("release")
    if any(isinstance(event, TuningEvent) for event in s.events):
        pages.append("tune")
    if s.engine in ("federated", "simulate"):
        pages.append("federated")
    if s.schedule is not None:
        pages.append("calendar")
    if not pages:
        return ()
    return tuple(f"docs/proofs/{page}.md" for page in (*pages, "bounds"))


def proven(statement: Statement) -> str:
    """Where the proof stands, as a sentence."""
    paths = proofs(statement)
    if statement.certified != "certified":
        return "No proof: nothing is certified."
    if not paths:
        return "The maker of this method proves it; its package says where."
    return f"Proofs, in the documentation of tacit: {', '.join(f'`{path}`' for path in paths)}."
