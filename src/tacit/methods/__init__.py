"""The methods by name: Tacit's own, then those of other packages. A method is imported when
it is asked for.

Another package offers a method by an entry point of the group `tacit.methods`, under the
name that its class carries:

    [project.entry-points."tacit.methods"]
    my-method = "my_package.module:MyMethod"

Tacit's own names come first, so that no package can put another method in their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.methods.base import Method

GROUP = "tacit.methods"
"""The entry points under which other packages offer methods."""
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
"""Tacit's own, each as module:class below this package."""
DEFAULT = "bayes"
"""For ratings."""
DEFAULT_POSITIVE = "ease"
"""For likes."""
OF_LIKES = ("popularity", "ease", "als", "mf-nonnegative")
"""Which of ours learn from likes alone. To any other all of them are one and the same rating,
from which nothing can be learned."""


def names() -> tuple[str, ...]:
    """All methods that can be asked for: Tacit's own, then those of other packages."""
    offered = {point.name for point in entry_points(group=GROUP)}
    return (*METHODS, *sorted(offered - set(METHODS)))


def find(name: str) -> type[Method]:
    """The class of a method."""
    if name in METHODS:
        module, cls = METHODS[name].split(":")
        method_class: type[Method] = getattr(import_module(f"{__name__}.{module}"), cls)
        return method_class
    offered = set(entry_points(group=GROUP, name=name))
    if not offered:
        raise _unknown(name)
    if len(offered) > 1:
        rivals = sorted(_offer(point) for point in offered)
        raise SettingError(
            f"the method {name!r} is offered more than once: {', '.join(rivals)}",
            remedy="uninstall all packages but one of these",
        )
    return _loaded(offered.pop())


def names_of(methods: object) -> tuple[str, ...]:
    """Methods as a caller in Python names them: one name or several, with commas or in a
    list. A class or an estimator is answered with its name."""
    several = methods.split(",") if isinstance(methods, str) else methods
    if isinstance(several, type) or not isinstance(several, Iterable):
        several = [several]
    method_names = list[str]()
    for entry in several:
        if isinstance(entry, str):
            method_names.append(entry.strip())
            continue
        name = getattr(entry, "name", None)
        hint = f"give its name: {name!r}" if isinstance(name, str) else ""
        raise SettingError(
            f"methods are named by texts, not by a {type(entry).__name__}",
            remedy=hint or f"name some of {', '.join(names())}",
        )
    if not any(method_names):
        raise SettingError("no method was named", remedy=f"name some of {', '.join(names())}")
    return tuple(method_names)


def _unknown(name: str) -> SettingError:
    near = get_close_matches(name, names(), n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return SettingError(
        f"the method {name!r} is unknown",
        remedy=f"{hint}the methods are: {', '.join(names())}; another package offers one by an "
        f"entry point of the group {GROUP}",
    )


def _offer(point: EntryPoint) -> str:
    """An entry point and the package that it comes from, in words."""
    package = point.dist.name if point.dist is not None else "an unknown package"
    return f"{point.value} of {package}"


def _loaded(point: EntryPoint) -> type[Method]:
    """The class behind an entry point, or what is wrong with it."""
    from tacit.methods.base import Method

    try:
        candidate = point.load()
    except Exception as error:
        raise SettingError(
            f"the method {point.name!r} cannot be loaded from {_offer(point)}: "
            f"{type(error).__name__}: {error}",
            remedy="repair or uninstall that package",
        ) from error
    if not (isinstance(candidate, type) and issubclass(candidate, Method)):
        fault = "it is not a class below tacit.methods.base.Method"
    elif vars(candidate).get("name") != point.name:
        fault = f"the class must carry the name {point.name!r}"
    else:
        return candidate
    raise SettingError(
        f"the method {point.name!r} cannot be used from {_offer(point)}: {fault}",
        remedy="repair or uninstall that package",
    )


def origin(method: type[Method]) -> str:
    """Whose a method is that is not Tacit's: its class, and the package that offers it by an
    entry point, if one does. Empty for Tacit's own."""
    if method.__module__.split(".")[0] == __name__.split(".")[0]:
        return ""
    qualified_name = f"{method.__module__}.{method.__qualname__}"
    value = f"{method.__module__}:{method.__qualname__}"
    for point in entry_points(group=GROUP):
        if point.value == value and point.dist is not None:
            return f"{qualified_name} of {point.dist.name} {point.dist.version}"
    return f"{qualified_name}, which no installed package offers"
