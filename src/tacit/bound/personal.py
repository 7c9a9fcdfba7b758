"""A person's own weight: her bounded integers times a number of at most 1, rounded toward
zero.

Guarantee (`user`): the sums move by at most weight/`WHOLE` of the bound's sensitivity, in L1
and L2, with her or without: |trunc(w q)| <= w |q| in every coordinate. It holds for whatever
bound made the integers, because the bound is met before the weight. At `rating` and `value`
nothing is promised: there a difference of two rounded rows would count.

| weight | row |
|---|---|
| `WHOLE` | as it is |
| 0 | nothing |
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.personal import WHOLE

Whole = NDArray[np.int64]
ROOM = 1 << 42
"""Integers stay below it, so that no product with a weight wraps."""


def lessened(lines: Whole, ptr: NDArray[np.int64], weights: Whole) -> Whole:
    """Each person's lines `ptr[p]:ptr[p+1]` times her weight."""
    if (weights < 0).any() or (weights > WHOLE).any():
        raise Failure("a person's weight is not between nothing and all of it")
    if len(lines) and int(np.abs(lines).max(initial=0)) >= ROOM:
        raise Failure("the numbers of a person are too large for a weight")
    line_weight = np.repeat(weights, np.diff(ptr))[:, None]
    lessened_lines: Whole = np.sign(lines) * ((np.abs(lines) * line_weight) // WHOLE)
    return lessened_lines


def factor_weights(weights: Whole) -> Whole:
    """What a row is multiplied by whose products with itself are summed: the root, rounded
    down, so that the products have the weight and no more."""
    roots = {int(w): isqrt(int(w) * WHOLE) for w in np.unique(weights)}
    return np.array([roots[int(w)] for w in weights], np.int64)
