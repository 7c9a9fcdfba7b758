"""The technical annex of a statement's document: the questions of NIST SP 800-226, answered
one by one."""

from __future__ import annotations

from tacit.ledger.statement import words
from tacit.ledger.statement.declared import UNSAID, Declared
from tacit.ledger.statement.registry import accounting
from tacit.ledger.statement.statement import Statement
from tacit.ledger.statement.story import bounds, mechanisms

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


def variant(s: Statement) -> str:
    """The name of the variant of differential privacy."""
    if s.certified != "certified":
        return "none is certified"
    return "Pure DP" if s.delta == 0 else "Approximate DP"


def why(s: Statement) -> str:
    """Why this variant and this noise."""
    if s.certified != "certified":
        return s.reason or ""
    if s.delta == 0:
        return (
            "Epsilon alone bounds it, without a chance of failure, because every release is a "
            "pure one."
        )
    return (
        "Many numbers are released together, and for those Gaussian noise is far smaller than "
        "Laplace noise of the same promise; its price is delta, the chance with which the odds "
        f"may grow by more than stated, here {s.delta:g}."
    )


def annex(
    s: Statement, declared: Declared
) -> tuple[tuple[str, tuple[str | tuple[str, ...], ...]], ...]:
    """Sections of (question, blocks)."""
    profile = "; ".join(
        f"epsilon {epsilon:.4g} at delta {delta:g}"
        for epsilon, delta in s.profile
    )
    found: list[tuple[str, tuple[str | tuple[str, ...], ...]]] = [
        ("Privacy unit", (f"`{s.unit}`: {words.UNIT_WORDS[s.unit]}.",)),
        (
            "Neighbouring data sets",
            (
                f"Two data sets that must look alike differ in this: {s.neighbours}.",
            ),
        ),
        (
            "Parameters",
            (
                f"All of these hold at once: {profile}."
                if profile
                else "None holds.",
            ),
        ),
        ("Variant, and why", (f"{variant(s)}. {why(s)}",)),
        ("Trust model", (s.trust, *((s.honest,) if s.honest else ()))),
        (
            "Mechanism",
            (
                f"Method `{s.method}`, calibration `{s.calibration}`, engine `{s.engine}`.",
                *(((*s.outside,),) if s.outside else ()),
                "Released, on the inner scale of width 4:",
                tuple(mechanisms(s)) or ("nothing with noise",),
                "What one person can add at most:",
                tuple(bounds(s)) or ("nothing bounds it",),
            ),
        ),
        ("Hazards of the implementation", (HAZARDS,)),
        (
            "Composition, now and over time",
            (f"Accountant: {accounting(s)}.", _over_time(s)),
        ),
        (
            "How data are collected, secured and deleted",
            (
                (
                    f"collected: {declared.collected or UNSAID}",
                    f"secured: {declared.secured or UNSAID}",
                    f"deleted: {declared.deleted or UNSAID}",
                ),
                (
                    "A published model cannot be made to forget, and need not: it is private in "
                    "each of these people. A later fit without them is `tacit fit --without FILE`."
                ),
            ),
        ),
        (
            "Usefulness, and bias against small groups",
            (declared.utility or f"As declared: {UNSAID}.", TRUSTED_BIAS),
        ),
        ("Who decided", (declared.decided or UNSAID,)),
    ]
    if s.supported:
        found.append(("Of delta", (f"{s.supported}.",)))
    return tuple(found)


def _over_time(s: Statement) -> str:
    if s.total is None:
        return "No book adds this up with other releases."
    return (
        "Every release about these people is charged to one hash-chained book before it is "
        f"drawn, and added up for this: {s.relation}."
    )
