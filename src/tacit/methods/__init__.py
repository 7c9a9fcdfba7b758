"""The methods by name. One paper or idea, one file; a method is imported when it is asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.methods.base import Method

METHODS = {
    "popularity": "popularity:Popularity",
    "bias": "bias:Bias",
    "bayes": "bayes:Bayes",
    "ease": "ease:EASE",
    "covariance-knn": "covariance:CovarianceKNN",
    "covariance-svd": "covariance:CovarianceSVD",
    "knn-pearson": "knn:PearsonKNN",
    "knn-cosine": "knn:CosineKNN",
    "pnbm-sgd": "pnbm:NeighborhoodSGD",
    "pnbm-langevin": "pnbm:NeighborhoodLangevin",
    "als": "als:ALS",
    "mf-objective": "mf_objective:ObjectiveMF",
    "mf-federated": "mf_federated:FederatedMF",
    "mf-nonnegative": "als:NonnegativeMF",
    "mf-sgd": "mf_sgd:GradientMF",
    "mf-langevin": "mf_sgd:LangevinMF",
    "svd-gradient": "svd:GradientSVD",
    "svd-objective": "svd:ObjectiveSVD",
    "svdpp-gradient": "svd:GradientSVDPP",
    "svdpp-objective": "svd:ObjectiveSVDPP",
    "svd-output": "svd:OutputSVD",
    "svdpp-output": "svd:OutputSVDPP",
    "mf-input-sgd": "mf_input:InputSGD",
    "mf-input-als": "mf_input:InputALS",
    "one-bit-naive": "one_bit:NaiveLocalMF",
    "one-bit": "one_bit:OneBitMF",
    "one-bit-projected": "one_bit:ProjectedOneBitMF",
}
DEFAULT = "bayes"
DEFAULT_POSITIVE = "ease"


def find(name: str) -> type[Method]:
    """The class of a method."""
    if name not in METHODS:
        near = get_close_matches(name, METHODS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise SettingError(f"the method {name!r} is unknown", remedy=f"{hint}the methods are: {', '.join(METHODS)}")
    module, cls = METHODS[name].split(":")
    found: type[Method] = getattr(import_module(f"tacit.methods.{module}"), cls)
    return found
