"""The states of a server that attacks devices which train profiles as Hua et al. print it.

Nothing bounds a residual r - u'v, and the server picks v. Three rounds are enough. In the
first it sends nothing, and u stays what the public seed made it. In the second it sends each
secret item as 3 u/|u|^2 + L w, w at right angles to u: the residual is r - 3, so that u turns
toward w or away from it as the secret rating says. In the third it sends M u/|u|: the
residual is about -M/|u| either way, so the gradient, which has both parts of u in it, differs
by as much as the server likes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.rounds.round import AnyState

Floats = NDArray[np.float64]
TURN = 130.0
"""L: with 23 items and the printed gain a profile turns by about half a right angle."""
PUSH = 1e5
"""M: thousands of times the printed noise."""


def profile_states(
    first: AnyState, rows: NDArray[np.int64], owns: Callable[[AnyState], Floats]
) -> list[AnyState]:
    """The three states. `rows` are the secret items, and `owns` gives the profile of each
    one's person after a round in which this state was sent: the server computes it, for it
    knows the seed."""
    size = first.items.shape
    nothing = first.after(items=np.zeros(size, first.items.dtype))
    own = owns(nothing)
    length = np.linalg.norm(own, axis=1, keepdims=True)
    across = np.random.default_rng(0).normal(size=own.shape)
    across -= own * (across * own).sum(axis=1, keepdims=True) / length**2
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    sent = []
    for made in (3 * own / length**2 + TURN * across, PUSH * own / length):
        items = np.zeros(size)
        items[rows] = made
        sent.append(first.after(items=items.astype(first.items.dtype)))
    return [nothing, *sent]
