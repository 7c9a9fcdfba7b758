"""Wang & Tang: private neighbourhood models (PNBM), and the factor models beside them."""

from __future__ import annotations

import numpy as np

from tacit.auditing.claims.chains import over_a_chain
from tacit.auditing.claims.claim import Expected, Force, PaperClaim, SeenByAttack
from tacit.auditing.claims.fits import (
    Floats,
    level_of_last,
    neighbour_of,
    printed,
    table,
    tells_exactly,
)
from tacit.auditing.claims.posterior import at_temperature
from tacit.auditing.games import laplace_ratio, play
from tacit.data.ratings import Ratings
from tacit.methods.neighbourhood.printed import printed_sensitivity
from tacit.methods.neighbourhood.printed.forms import FLOOR, RATE

PAPER = "Wang & Tang"
RATED = 100
"""Ratings of the person whose rating changes."""
RESCALE = 2.0
"""beta: with the random start of the authors' program all similarities of this person then
add up to about C, where the paper has them and where a step is largest."""
RUNS = 4000
"""Of each neighbour."""
CHUNK = 200


def one_step(claim: PaperClaim, force: Force) -> SeenByAttack:
    """S after one full step, of a person with ratings 5 and 1 in turn, one of which changes.

    The step is run without its noise on both neighbours; the printed noise is Laplace on
    every entry of the gradient, so the ratio of densities is known.
    """
    base = alternating()
    base_entries = _entries(claim, base)
    neighbour_entries = _entries(claim, neighbour_of(base, 0, 1.0))
    changed = base_entries != neighbour_entries
    base_changed, neighbour_changed = base_entries[changed], neighbour_entries[changed]
    noise = printed_sensitivity(1, FLOOR) / claim.epsilon
    scale = RATE * RESCALE * noise
    exact = float(np.abs(base_changed - neighbour_changed).sum() / scale)
    rng = np.random.default_rng()
    runs = RUNS // 4 if force.quick else RUNS
    played: list[Floats] = []
    for centre in (base_changed, neighbour_changed):
        losses = [
            laplace_ratio(
                centre + rng.laplace(0, scale, (CHUNK, len(centre))),
                base_changed,
                neighbour_changed,
                scale,
            )
            for _ in range(runs // CHUNK)
        ]
        played.append(np.concatenate(losses))
    won = play(played[0], played[1], delta=0.0, mistake=force.mistake)
    return SeenByAttack(
        won.epsilon,
        f"exactly {exact:.0f}: {changed.sum()} entries move, and one is charged",
        f"a person with {RATED} ratings, 5 and 1 in turn; one becomes 1",
    )


def alternating() -> Ratings:
    """The person whose rating changes, and a crowd in which means say little."""
    rng = np.random.default_rng(3)
    crowd = rng.integers(1, 6, (60, RATED)).astype(float)
    mine = np.where(np.arange(RATED) % 2 == 0, 5.0, 1.0)
    return table(np.vstack([mine, crowd]))


def _entries(claim: PaperClaim, ratings: Ratings) -> Floats:
    """All similarities after the step, from the public random start, without noise."""
    fit = printed(claim, ratings, noise_off=True, rounds=1, rescale=RESCALE)
    return np.asarray(fit.state.similarity, np.float64).ravel()


TEMPERATURES: tuple[tuple[float, Expected], ...] = ((0.006, "false"), (1.0, "true"))
"""One of the paper's, and the one at which the law is that of the claim."""
VALUE = "one rating changes its value"
PERSON = "one person comes or goes"
CLAIMS = (
    PaperClaim(
        "PNBM means",
        PAPER,
        "DPSGD-PNBM is epsilon-private for a rating; its predictor has item means",
        VALUE,
        "pnbm-sgd",
        "rating",
        1.0,
        tells_exactly(level_of_last),
        "false",
    ),
    PaperClaim(
        "PNBM posterior means",
        PAPER,
        "DPPS-PNBM is epsilon-private for a person; its predictor has item means",
        PERSON,
        "pnbm-langevin",
        "user",
        1.0,
        tells_exactly(level_of_last, rounds=2),
        "false",
    ),
    PaperClaim(
        "PNBM gradient",
        PAPER,
        "theorem 1: noise for dF = 2 e_max phi/C makes a step epsilon-private",
        VALUE,
        "pnbm-sgd",
        "rating",
        1.0,
        one_step,
        "false",
    ),
    *(
        PaperClaim(
            f"posterior law at temperature {rho:g}",
            PAPER,
            "DPPS is epsilon-private for a person once its chain has reached its law",
            "one person is replaced by another",
            "pnbm-langevin",
            "user",
            20.0,
            at_temperature(rho),
            expected,
        )
        for rho, expected in TEMPERATURES
    ),
    PaperClaim(
        "PNBM posterior sample",
        PAPER,
        "theorem 3: a sample of the similarities is epsilon-private for a person",
        PERSON,
        "pnbm-langevin",
        "user",
        1.0,
        over_a_chain("pairs", rounds=40),
        "open",
    ),
    PaperClaim(
        "MF posterior sample",
        f"{PAPER}, after Liu, Wang & Smola",
        "a sample of the item factors is epsilon-private for a person",
        PERSON,
        "mf-langevin",
        "user",
        1.0,
        over_a_chain("factors", epochs=40),
        "open",
    ),
)
