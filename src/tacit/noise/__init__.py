"""The only place where privacy noise is drawn: random bits, exact samplers, shares, release.

One law, one file. What is exported here is loaded when first used; `knorm` is in the module
of its own name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.noise.bits import Bits, fresh, injected
    from tacit.noise.gaussian import discrete_gaussian
    from tacit.noise.laplace import discrete_laplace
    from tacit.noise.response import randomized_response
    from tacit.noise.selection import permute_and_flip
    from tacit.noise.shares import polya_shares, skellam_shares

_HOME = {
    "Bits": "bits",
    "discrete_gaussian": "gaussian",
    "discrete_laplace": "laplace",
    "fresh": "bits",
    "injected": "bits",
    "permute_and_flip": "selection",
    "polya_shares": "shares",
    "randomized_response": "response",
    "skellam_shares": "shares",
}
__all__ = [
    "Bits",
    "discrete_gaussian",
    "discrete_laplace",
    "fresh",
    "injected",
    "permute_and_flip",
    "polya_shares",
    "randomized_response",
    "skellam_shares",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
