"""The twin of `bias`: its effects and levels, fitted to all ratings without noise."""

from __future__ import annotations

from tacit.methods.noiseless.twin import ItemBiasTwin


class BiasTwin(ItemBiasTwin):
    """The ridge of user and item biases whose ridges are estimated, with tastes for
    popularity, agreement and public features. NOT PRIVATE."""
