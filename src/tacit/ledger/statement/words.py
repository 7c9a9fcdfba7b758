"""The fixed words of a statement: who is protected, from whom, by which noise. Keyed by
engine, unit and event."""

from __future__ import annotations

import re

from tacit.ledger.account.cost import Tuned
from tacit.ledger.account.event import (
    Event,
    Gaussian,
    KNorm,
    Laplace,
    RandomizedChoice,
    Reserve,
    Response,
    Selection,
    Skellam,
    TuningEvent,
    Unbounded,
)
from tacit.units import Unit

SUPPORT = 0.1
"""Of one person: the most that delta may be of one in the people, to be called supported."""

ENGINES = ("threads", "spark", "federated", "local", "simulate")

UNIT_WORDS: dict[Unit, str] = {
    "user": "a whole person, with all of that person's ratings",
    "rating": "one rating: whether one person rated one item, and how (a cell of the table, "
    "empty or filled, repeated ones joined)",
    "value": "the value of one rating; who rated what is taken as public",
}

_CURATOR: dict[Unit, str] = {
    "user": "one person, with all of that person's ratings, is added or removed",
    "rating": "one person-item cell is filled or emptied",
    "value": "the value of one rating is changed, and who rated what stays the same",
}
_FEDERATED: dict[Unit, str] = {
    "user": "the participants are the same, and one honest person's contribution is "
    "replaced by nothing",
    "rating": "the participants are the same, and one cell of one honest person is filled "
    "or emptied",
    "value": "the participants are the same, and the value of one rating of one honest "
    "person is changed",
}

_TRUST = {
    "threads": "A trusted curator holds the ratings on one machine and adds the noise "
    "after the sum.",
    "spark": "A trusted curator holds the ratings on a cluster and adds the noise after the sum.",
    "federated": "No one holds the ratings. A recommender and an aggregator must not "
    "collude; neither sees a contribution, and both see who takes part. The noise comes from "
    "each server, from every device as a share, or from both, as said below with who must be "
    "honest for it.",
    "local": "Nobody is trusted. Every device adds enough noise for itself alone.",
    "simulate": "Devices and servers were simulated in one process, which saw every "
    "rating: the promise covers what "
    "was released, not that process.",
}

OUTSIDE = (
    "The method is not Tacit's: it is the class {}. Tacit has not reviewed its code, and the "
    "promise holds if that code does what was checked of it:"
)
BOUNDED = (
    "checked by Tacit for everybody: what one person adds is bounded, on integers, and nothing "
    "is released without the noise that was paid for"
)
WATCHED = (
    "checked by Tacit on a few invented people before the charge and on a few people of every "
    "round: what each adds is the same, bit for bit, alone and in a block"
)
DEVICES = (
    "by construction: every device computes what it adds by itself, from its own ratings and "
    "what is public"
)
UNWATCHED = "not checked: that what one person adds does not depend on other people"
TRUSTED = (
    "not checked: that it keeps nothing of the ratings it sees, and makes the model of nothing "
    "but what was released"
)


def outside(whose: str, each_alone: str) -> tuple[str, ...]:
    """About a method of another package: whose it is; then how it is known that it treats
    each person alone (`WATCHED`, `DEVICES`, `UNWATCHED`), and what is not known."""
    return (OUTSIDE.format(whose), BOUNDED, each_alone, TRUSTED)


NOT_PROTECTED = (
    "how long the computation took and how much memory it used",
    "whether a person took part, as far as others can see that by other means",
    (
        "what a person is shown, which is computed from that person's own ratings and is "
        "theirs to keep"
    ),
    "what many people have in common: a model is made to learn that",
    "several accounts of one person together: each is protected by itself",
    "raw ratings where they are kept, and what the owner computes from them besides",
)
VALUES_ONLY = "which items each person rated"
ONE_BY_ONE = (
    "a person as a whole: ratings are protected one at a time, so somebody with k of them is "
    "protected k times less (epsilon times k, and a larger delta)"
)
PUBLIC_PEOPLE = "people whose ratings are taken as public: nothing is promised to them"
RECORDS = "any two records of one person are exchanged, over all of that person's reports"
"""Neighbours where each device randomizes what it says."""


FIGURES = (
    "Nobody is shown anything but these figures: they are sums over all people, and each "
    "person's part in them was computed from the published model and that person's own "
    "ratings alone."
)


def neighbours(engine: str, unit: Unit, local: bool = True) -> str:
    """What may differ between two data sets that must look alike. `simulate` plays devices
    that each noise for themselves (`local`), or that share the noise of a federation."""
    if engine == "local" or (engine == "simulate" and local):
        return RECORDS
    if engine in ("federated", "simulate"):
        return _FEDERATED[unit]
    return _CURATOR[unit]


_REPLACED: dict[Unit, str] = {
    "user": "one person's ratings are replaced by none",
    "rating": "one cell of one person is filled or emptied",
    "value": "the value of one rating is changed",
}


def relation(unit: Unit) -> str:
    """In which sense entries of a book are added up. Noise of a curator covers a person who
    leaves, that of a federation a participant who contributes nothing, that of a device any
    two of her records: all three cover ratings that are replaced by none while taking part
    stays visible where it is, and for that their costs add up."""
    return (
        f"{_REPLACED[unit]}, over all releases together; that she takes part stays visible "
        "where a federation shows it"
    )


def supported(delta: float, count: float) -> str:
    """Whether a count that was released supports a delta: a tenth of a person among all of
    them. Computed from that count alone, which has noise."""
    largest_delta = SUPPORT / count
    clause = (
        f"delta {delta:g} is {'at most' if delta <= largest_delta else 'above'} a tenth of one in"
    )
    return (
        f"{clause} the {count:,.0f} people that were counted with noise and released: the "
        f"released count {'supports' if delta <= largest_delta else 'does not support'} it"
    )


_PLAYED = {
    "local": "Devices were played in one process, which held all ratings in one table: whoever "
    "ran it had to be trusted with them. The promise covers every report that was made, each of "
    "which has enough noise for itself alone.",
    "federated": "Devices and two servers were played in one process, which held all ratings "
    "in one table: whoever ran it had to be trusted with them. The promise covers what was "
    "released.",
}


def trust(engine: str, *, played: bool = False) -> str:
    """Who must be trusted under an engine. `played` says that devices were no machines of
    their own: one process held all ratings."""
    return _PLAYED[engine] if played and engine in _PLAYED else _TRUST[engine]


def joint(unit: Unit) -> str:
    """Why showing people recommendations costs nothing more."""
    covered = {
        "user": "private in that person's data",
        "rating": "private in each of that person's ratings",
        "value": "private in the value of each of that person's ratings",
    }
    return (
        "What each person is shown is computed from the published model and that person's "
        "own ratings, so everything "
        f"that all other people see together is equally {covered[unit]}."
    )


def mechanism(event: Event) -> str:
    """One event in one clause. Scales are in units of what is released."""
    often = f", {event.times:,} times" if event.times > 1 else ""
    coin = (
        f", each person taking part with chance {event.sampled:g} by a secret coin"
        if event.sampled < 1
        else ""
    )
    free = f"; over other people than {event.beside}" if event.beside else ""
    free += (
        f"; drawn only instead of {event.instead}, as released numbers decide"
        if event.instead
        else ""
    )
    return f"{event.name}: {_noise(event)}{often}{coin}{free}"


def _noise(event: Event) -> str:
    unit = event.steps
    if isinstance(event, Gaussian):
        return (
            f"discrete Gaussian noise of standard deviation {event.sigma / unit:.6g} on "
            f"{count(event.draws, 'number')} (L2 sensitivity {event.sensitivity / unit:.6g})"
        )
    if isinstance(event, Skellam):
        return (
            f"Skellam noise, of variance {event.variance / unit**2:.6g} from the honest "
            "shares that suffice, or from each server by itself, "
            f"on {count(event.draws, 'number')} (sensitivity L2 "
            f"{event.sensitivity / unit:.6g}, L1 "
            f"{event.l1 / unit:.6g})"
        )
    if isinstance(event, Laplace):
        return (
            f"discrete Laplace noise of scale {event.scale / unit:.6g} on "
            f"{count(event.draws, 'number')} "
            f"(L1 sensitivity {event.sensitivity / unit:.6g})"
        )
    if isinstance(event, KNorm):
        return (
            f"K-norm noise of scale {event.scale / unit:.6g} on "
            f"{count(event.rows, 'row')} of {event.dimension} "
            f"(L2 sensitivity {event.sensitivity / unit:.6g})"
        )
    if isinstance(event, Response):
        reports = count(event.reports, "one-bit report")
        return f"randomized response, {reports} a person at epsilon {event.epsilon:.6g} each"
    if isinstance(event, RandomizedChoice):
        return (
            f"one randomized report a person among {event.choices:,} answers, "
            f"{event.favoured:,} of them favoured, "
            f"at epsilon {event.epsilon:.6g}"
        )
    if isinstance(event, Selection):
        return (
            f"permute-and-flip among {event.candidates:,} candidates at epsilon {event.epsilon:.6g}"
        )
    if isinstance(event, Reserve):
        size = f"mu {event.mu:.6g}" if event.mu is not None else f"epsilon {event.epsilon:.6g}"
        return f"rounds shaped by earlier releases, within {size} together"
    if isinstance(event, TuningEvent):
        size = (
            f"rho {event.rho:.6g} (zero-concentrated)"
            if event.rho is not None
            else f"epsilon {event.epsilon:.6g}"
        )
        expected = Tuned(1.0, event.shape, event.stop).expected
        return (
            f"the best of a secret number of trials, {expected:.4g} in the mean "
            f"(truncated negative binomial, eta {event.shape:g}, gamma {event.stop:.6g}), "
            f"each a fit and a score of one of {count(event.candidates, 'candidate')} "
            f"within {size}"
        )
    if isinstance(event, Unbounded):
        noise = (
            "no noise"
            if event.noise == "none"
            else f"{event.noise} noise of scale {event.scale / unit:.6g} as printed"
        )
        return (
            f"{noise}, claimed to give epsilon {event.claimed_epsilon:g}; not "
            f"certified: {event.reason}"
        )
    return "raw ratings compared with predictions, for the owner only"


_LIKES = {
    "rating": "like",
    "ratings": "likes",
    "rated": "liked",
    "Rating": "Like",
    "Ratings": "Likes",
}


def as_likes(text: str) -> str:
    """The same about people who like things and rate none. Names in `backticks` stay."""
    parts = text.split("`")
    parts[::2] = [
        re.sub(r"\b[Rr]at(?:ings?|ed)\b", lambda m: _LIKES.get(m[0], m[0]), part)
        for part in parts[::2]
    ]
    return "`".join(parts)


def count(number: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
