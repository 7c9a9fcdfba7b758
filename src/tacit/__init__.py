"""Tacit: recommenders that learn from people without learning about any one of them.

Everything public is a name of this package and is imported when it is first used, so that `import tacit` is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "read": "tacit.data.read",
    "read_items": "tacit.data.items",
    "sample": "tacit.data.sample",
    "sample_catalogue": "tacit.data.sample",
    "Catalogue": "tacit.data.catalogue",
    "Ratings": "tacit.data.ratings",
    "Schema": "tacit.data.schema",
    "load": "tacit.model.model",
    "Model": "tacit.model.model",
    "open_book": "tacit.ledger.book",
    "TacitError": "tacit.errors",
    "Popularity": "tacit.methods.popularity",
    "Bias": "tacit.methods.bias",
    "CovarianceKNN": "tacit.methods.covariance",
    "EASE": "tacit.methods.ease",
    "CovarianceSVD": "tacit.methods.covariance",
    "PearsonKNN": "tacit.methods.knn",
    "CosineKNN": "tacit.methods.knn",
    "Bayes": "tacit.methods.bayes",
    "ALS": "tacit.methods.als",
    "ObjectiveMF": "tacit.methods.mf_objective",
    "NonnegativeMF": "tacit.methods.als",
    "GradientMF": "tacit.methods.mf_sgd",
    "LangevinMF": "tacit.methods.mf_sgd",
    "GradientSVD": "tacit.methods.svd",
    "GradientSVDPP": "tacit.methods.svd",
    "ObjectiveSVD": "tacit.methods.svd",
    "ObjectiveSVDPP": "tacit.methods.svd",
    "OutputSVD": "tacit.methods.svd",
    "OutputSVDPP": "tacit.methods.svd",
    "InputSGD": "tacit.methods.mf_input",
    "InputALS": "tacit.methods.mf_input",
    "NeighborhoodSGD": "tacit.methods.pnbm",
    "NeighborhoodLangevin": "tacit.methods.pnbm",
    "FederatedMF": "tacit.methods.mf_federated",
    "NaiveLocalMF": "tacit.methods.one_bit",
    "OneBitMF": "tacit.methods.one_bit",
    "ProjectedOneBitMF": "tacit.methods.one_bit",
}

__all__ = ["__version__", *sorted(_HOMES)]

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.items import read_items
    from tacit.data.ratings import Ratings
    from tacit.data.read import read
    from tacit.data.sample import sample, sample_catalogue
    from tacit.data.schema import Schema
    from tacit.errors import TacitError
    from tacit.ledger.book import open_book
    from tacit.methods.als import ALS, NonnegativeMF
    from tacit.methods.bayes import Bayes
    from tacit.methods.bias import Bias
    from tacit.methods.covariance import CovarianceKNN, CovarianceSVD
    from tacit.methods.ease import EASE
    from tacit.methods.knn import CosineKNN, PearsonKNN
    from tacit.methods.mf_federated import FederatedMF
    from tacit.methods.mf_input import InputALS, InputSGD
    from tacit.methods.mf_objective import ObjectiveMF
    from tacit.methods.mf_sgd import GradientMF, LangevinMF
    from tacit.methods.one_bit import NaiveLocalMF, OneBitMF, ProjectedOneBitMF
    from tacit.methods.pnbm import NeighborhoodLangevin, NeighborhoodSGD
    from tacit.methods.popularity import Popularity
    from tacit.methods.svd import GradientSVD, GradientSVDPP, ObjectiveSVD, ObjectiveSVDPP, OutputSVD, OutputSVDPP
    from tacit.model.model import Model, load


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
