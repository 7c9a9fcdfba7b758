"""The non-private twins of the covariance's factor and of `ease`, fitted in one piece."""

from __future__ import annotations

import numpy as np

from tacit.methods.base import Public
from tacit.methods.first_order.state import Floats
from tacit.methods.item_item.covariance import CovarianceSettings
from tacit.methods.item_item.ease_twin import MOST_ITEMS, RANK, fit_ease
from tacit.methods.item_item.matrix import published
from tacit.methods.item_item.plan import RANK as TASTES
from tacit.methods.noiseless.twin import (
    GaussianTwin,
    OnePiece,
    OnePieceState,
)
from tacit.model.shared import Shared
from tacit.rounds.round import Block


class CovarianceTwin(GaussianTwin):
    """Effects and the rank-k factor of what is left, both by variational Bayes instead of by
    a covariance. NOT PRIVATE."""

    settings: CovarianceSettings

    def width(self, public: Public) -> int:
        """A person's level, and the rank at most."""
        return min(super().width(public), 1 + (self.settings.rank or TASTES))


class EaseTwin(OnePiece):
    """Weights between items, with a ridge that was chosen on likes held back inside the
    training. NOT PRIVATE."""

    def rank(self, public: Public) -> int:
        """Columns of either side of the weights."""
        return min(RANK, public.items, MOST_ITEMS)

    def sizes(self, public: Public) -> tuple[int, int]:
        """Likes, whether weights speak for the item, and both sides of the weights; how
        many columns there are."""
        return 2 + 2 * self.rank(public), 1

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """`tacit.methods.item_item.ease_twin`."""
        items = public.items
        rank = self.rank(public)
        found = fit_ease(block.ptr, block.item, items)
        table = np.zeros((items, 2 + 2 * rank))
        table[:, 0] = np.bincount(block.item, minlength=items)
        table[found.head, 1] = 1.0
        used = found.between.left.shape[1]
        table[found.head, 2 : 2 + used] = found.between.left
        table[found.head, 2 + rank : 2 + rank + used] = found.between.right
        return table, np.array([float(used)])

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """Popularity, and both sides of the weights between items."""
        table = state.items
        rank = self.rank(public)
        used = int(state.shared[0])
        head = np.flatnonzero(table[:, 1])
        arrays = {"weight": table[:, 0].astype(np.float32)}
        if used:
            left, right = table[head, 2:], table[head, 2 + rank :]
            arrays |= {
                "left": left[:, :used].astype(np.float32),
                "right": right[:, :used].astype(np.float32),
                "head": head.astype(np.int32),
            }
        return published(self.method, public, "ease", arrays, {})
