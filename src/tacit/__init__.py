"""Tacit: recommenders that learn from people and tell very little about any one of them, as
much as you set.

Everything public is a name of this package and is imported when it is first used, so that
`import tacit` is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "pack": "tacit.data.pack",
    "read": "tacit.data.read",
    "read_items": "tacit.data.reading.items",
    "sample": "tacit.data.sample",
    "sample_catalogue": "tacit.data.sample",
    "Catalogue": "tacit.data.catalogue",
    "PublicPeople": "tacit.data.public",
    "Ratings": "tacit.data.ratings",
    "Schema": "tacit.data.schema",
    "load": "tacit.model.model",
    "Model": "tacit.model.model",
    "verify": "tacit.model.verify",
    "synthesize": "tacit.model.synthesize",
    "plan": "tacit.evaluation.planning",
    "choose": "tacit.evaluation.planning",
    "open_book": "tacit.ledger.book.book",
    "audit": "tacit.auditing.audit",
    "Audit": "tacit.auditing.audit",
    "evaluate": "tacit.evaluation.api",
    "Evaluation": "tacit.evaluation.api",
    "release": "tacit.evaluation.release",
    "refresh": "tacit.fitting.refresh",
    "tune": "tacit.evaluation.tune",
    "TacitError": "tacit.errors",
    "TacitNotice": "tacit.notices",
    "Popularity": "tacit.methods.baselines.popularity",
    "Bias": "tacit.methods.baselines.bias",
    "CovarianceKNN": "tacit.methods.item_item.covariance",
    "EASE": "tacit.methods.item_item.ease",
    "CovarianceSVD": "tacit.methods.item_item.covariance",
    "PearsonKNN": "tacit.methods.item_item.knn",
    "CosineKNN": "tacit.methods.item_item.knn",
    "Bayes": "tacit.methods.bayes.bayes",
    "ALS": "tacit.methods.factorization.als",
    "ObjectiveMF": "tacit.methods.factorization.objective",
    "NonnegativeMF": "tacit.methods.factorization.als",
    "GradientMF": "tacit.methods.factorization.sgd",
    "LangevinMF": "tacit.methods.factorization.sgd",
    "GradientSVD": "tacit.methods.factorization.svd",
    "GradientSVDPP": "tacit.methods.factorization.svd",
    "ObjectiveSVD": "tacit.methods.factorization.svd",
    "ObjectiveSVDPP": "tacit.methods.factorization.svd",
    "OutputSVD": "tacit.methods.factorization.svd",
    "OutputSVDPP": "tacit.methods.factorization.svd",
    "InputSGD": "tacit.methods.factorization.input",
    "InputALS": "tacit.methods.factorization.input",
    "NeighborhoodSGD": "tacit.methods.neighbourhood.neighbourhood",
    "NeighborhoodLangevin": "tacit.methods.neighbourhood.neighbourhood",
    "FederatedMF": "tacit.methods.factorization.federated",
    "NaiveLocalMF": "tacit.methods.one_bit.one_bit",
    "OneBitMF": "tacit.methods.one_bit.one_bit",
    "ProjectedOneBitMF": "tacit.methods.one_bit.one_bit",
}

__all__ = ["__version__", *sorted(_HOMES)]

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit, audit
    from tacit.data.catalogue import Catalogue
    from tacit.data.pack import pack
    from tacit.data.public import PublicPeople
    from tacit.data.ratings import Ratings
    from tacit.data.read import read
    from tacit.data.reading.items import read_items
    from tacit.data.sample import sample, sample_catalogue
    from tacit.data.schema import Schema
    from tacit.errors import TacitError
    from tacit.evaluation.api import Evaluation, evaluate
    from tacit.evaluation.planning import choose, plan
    from tacit.evaluation.release import release
    from tacit.evaluation.tune import tune
    from tacit.fitting.refresh import refresh
    from tacit.ledger.book.book import open_book
    from tacit.methods.baselines.bias import Bias
    from tacit.methods.baselines.popularity import Popularity
    from tacit.methods.bayes.bayes import Bayes
    from tacit.methods.factorization.als import ALS, NonnegativeMF
    from tacit.methods.factorization.federated import FederatedMF
    from tacit.methods.factorization.input import InputALS, InputSGD
    from tacit.methods.factorization.objective import ObjectiveMF
    from tacit.methods.factorization.sgd import GradientMF, LangevinMF
    from tacit.methods.factorization.svd import (
        GradientSVD,
        GradientSVDPP,
        ObjectiveSVD,
        ObjectiveSVDPP,
        OutputSVD,
        OutputSVDPP,
    )
    from tacit.methods.item_item.covariance import CovarianceKNN, CovarianceSVD
    from tacit.methods.item_item.ease import EASE
    from tacit.methods.item_item.knn import CosineKNN, PearsonKNN
    from tacit.methods.neighbourhood.neighbourhood import NeighborhoodLangevin, NeighborhoodSGD
    from tacit.methods.one_bit.one_bit import NaiveLocalMF, OneBitMF, ProjectedOneBitMF
    from tacit.model.model import Model, load
    from tacit.model.synthesize import synthesize
    from tacit.model.verify import verify
    from tacit.notices import TacitNotice


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # what Python and its tools ask of any module
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    if name not in _HOMES:
        from tacit.validation import unknown_name

        raise unknown_name("tacit", name, __all__)
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
