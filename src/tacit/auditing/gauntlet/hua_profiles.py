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
    initial: AnyState, rows: NDArray[np.int64], owns: Callable[[AnyState], Floats]
) -> list[AnyState]:
    """The three states. `rows` are the secret items, and `owns` gives the profile of each
    one's person after a round in which this state was sent: the server computes it, for it
    knows the seed."""
    size = initial.items.shape
    nothing = initial.after(items=np.zeros(size, initial.items.dtype))
    profiles = owns(nothing)
    length = np.linalg.norm(profiles, axis=1, keepdims=True)
    across = np.random.default_rng(0).normal(size=profiles.shape)
    across -= profiles * (across * profiles).sum(axis=1, keepdims=True) / length**2
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    states = []
    for vectors in (3 * profiles / length**2 + TURN * across, PUSH * profiles / length):
        items = np.zeros(size)
        items[rows] = vectors
        states.append(initial.after(items=items.astype(initial.items.dtype)))
    return [nothing, *states]
