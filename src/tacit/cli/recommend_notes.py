"""What is said beside a list: what of the own file counts, whose it is, and why it is short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.cli.options import note

if TYPE_CHECKING:
    from tacit.model.model import Model
    from tacit.model.person.base import Own
    from tacit.model.person.results import Recommendation

TOLD = 20
"""Unknown items that are named."""


def tell_order(lines: list[Recommendation]) -> None:
    """Why a line may stand above one that is expected to be better, and what follows the ±."""
    expected = [line.rating for line in lines if line.rating is not None]
    if expected == sorted(expected, reverse=True):
        return
    note(
        "the order also counts what many know (--by rating goes by `expected` alone); ± is "
        "how far one rating usually lies from what is expected"
    )


def tell_all(count: int, only: bool) -> None:
    """Why a list is shorter than was asked, or empty."""
    which = "items that --only lists" if only else "items of this model"
    if count:
        note(f"these are all {which} that are neither rated nor left out")
    else:
        note(f"nothing is left: all {which} are rated already or left out")


def tell_unknown(fitted: Model, unknown: list[str]) -> None:
    """Which items the model does not know, and what may have been meant."""
    from tacit.model.person.results import UnknownItem

    if len(unknown) > TOLD:
        note(f"{len(unknown):,} items are not in this model, among them:")
    for name in unknown[:TOLD]:
        match = fitted.find(name)
        near = match.near if isinstance(match, UnknownItem) else ()
        note(f"{name!r} is not in this model" + (f"; did you mean {near[0]!r}?" if near else ""))


def tell_user_factors(fitted: Model, user_ratings: Own) -> None:
    """Whether the list is anybody's own."""
    if not len(user_ratings.items):
        note(
            "without your own ratings (--ratings FILE: columns item, rating) this is "
            "everybody's list"
        )
    elif not fitted.knows_tastes(user_ratings):
        noun = "ratings" if fitted.shared.schema.positive is None else "likes"
        note(
            f"this model ({fitted.shared.method}) has learned no tastes that your {noun} "
            f"touch: the order is everybody's. {_teaches(fitted)} teach it some"
        )


def _teaches(fitted: Model) -> str:
    """What would help: tags only where there are none and the method asks for them."""
    shared = fitted.shared
    if shared.catalogue.has_features or shared.schema.positive is not None:
        return "More people or a larger epsilon"
    return "More people, a larger epsilon or tags of the items"
