"""The methods by name. One paper or idea, one file; a method is imported when it is asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.methods.base import Method

METHODS = {
    "popularity": "baselines.popularity:Popularity",
    "bias": "baselines.bias:Bias",
    "bayes": "bayes.bayes:Bayes",
    "ease": "item_item.ease:EASE",
    "covariance-knn": "item_item.covariance:CovarianceKNN",
    "covariance-svd": "item_item.covariance:CovarianceSVD",
    "knn-pearson": "item_item.knn:PearsonKNN",
    "knn-cosine": "item_item.knn:CosineKNN",
    "pnbm-sgd": "neighbourhood.neighbourhood:NeighborhoodSGD",
    "pnbm-langevin": "neighbourhood.neighbourhood:NeighborhoodLangevin",
    "als": "factorization.als:ALS",
    "mf-objective": "factorization.objective:ObjectiveMF",
    "mf-federated": "factorization.federated:FederatedMF",
    "mf-nonnegative": "factorization.als:NonnegativeMF",
    "mf-sgd": "factorization.sgd:GradientMF",
    "mf-langevin": "factorization.sgd:LangevinMF",
    "svd-gradient": "factorization.svd:GradientSVD",
    "svd-objective": "factorization.svd:ObjectiveSVD",
    "svdpp-gradient": "factorization.svd:GradientSVDPP",
    "svdpp-objective": "factorization.svd:ObjectiveSVDPP",
    "svd-output": "factorization.svd:OutputSVD",
    "svdpp-output": "factorization.svd:OutputSVDPP",
    "mf-input-sgd": "factorization.input:InputSGD",
    "mf-input-als": "factorization.input:InputALS",
    "one-bit-naive": "one_bit.one_bit:NaiveLocalMF",
    "one-bit": "one_bit.one_bit:OneBitMF",
    "one-bit-projected": "one_bit.one_bit:ProjectedOneBitMF",
}
DEFAULT = "bayes"
DEFAULT_POSITIVE = "ease"


def find(name: str) -> type[Method]:
    """The class of a method."""
    if name not in METHODS:
        near = get_close_matches(name, METHODS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise SettingError(
            f"the method {name!r} is unknown",
            remedy=f"{hint}the methods are: {', '.join(METHODS)}",
        )
    module, cls = METHODS[name].split(":")
    found: type[Method] = getattr(import_module(f"tacit.methods.{module}"), cls)
    return found
