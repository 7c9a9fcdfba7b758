"""The technical annex of a statement's document: the questions of NIST SP 800-226, answered
one by one."""

from __future__ import annotations

from tacit.ledger.account.event import TuningEvent
from tacit.ledger.account.rounded import up
from tacit.ledger.statement import words
from tacit.ledger.statement.declared import Declared, as_declared
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
