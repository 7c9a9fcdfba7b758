"""From the options of `tacit choose` to its answer, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.options import declared_scale, method_options, read_data
from tacit.cli.parse import parse_scale, parse_settings
from tacit.cli.show import progress
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings
    from tacit.evaluation.choose import EpsilonChoice

OWN = ("epsilon",)
"""Options of a method that `choose` answers instead of taking."""


def answer(options: dict[str, Any]) -> EpsilonChoice:
    """The choice that the options ask for."""
    from tacit.evaluation.planning import choose

    goals = [options["rmse"], options["recall"], options["by_range"] or None]
    if sum(goal is not None for goal in goals) != 1:
        raise SettingError(
            "what to choose for is not clear", remedy="give one of --rmse X, --recall X and --range"
        )
    ratings, items = _looked_at(options)
    users = options["users"]
    if users is None and ratings is not None and options["public_ratings"]:
        users = ratings.n_users
    if users is None:
        raise SettingError(
            "how many people there are is not known", remedy="give --users, a declared number"
        )
    with progress("choose") as bar:
        return choose(
            options["method"],
            users=users,
            items=_items(options, ratings, items),
            rmse=options["rmse"],
            recall=options["recall"],
            by_range=options["by_range"],
            each=options["each"],
            scale=parse_scale(options["scale"]) or (1.0, 5.0),
            positive=options["positive"],
            spread=options["spread"],
            popular_share=options["popular_share"],
            twin=options["twin"],
            public=ratings,
            runs=options["runs"],
            tell=bar,
            **_asked_of_method(options),
        )


def _asked_of_method(options: dict[str, Any]) -> dict[str, Any]:
    selected = method_options(options)
    arguments = {name: value for name, value in selected.items() if name not in OWN}
    return arguments | parse_settings(options["settings"])


def _items(
    options: dict[str, Any], ratings: Ratings | None, catalogue: Catalogue | None
) -> int | Catalogue:
    source = options["items"]
    if catalogue is not None:
        return catalogue
    if ratings is not None and options["public_ratings"] and source is None:
        return ratings.n_items
    if source is None:
        raise SettingError(
            "how many items there are is not known", remedy="give --items a file or a count"
        )
    from tacit.cli.plan import counted_or_read

    items = counted_or_read(source, options["columns"])
    assert items is not None
    return items


def _looked_at(options: dict[str, Any]) -> tuple[Ratings | None, Catalogue | None]:
    """Ratings to try on. Private ones are booked as an evaluation before they are used, or
    refused."""
    if options["ratings"] is None:
        return None, None
    if not options["by_range"]:
        raise SettingError(
            "a forecast reads no ratings", remedy="leave --ratings out, or ask for --range"
        )
    public = options["public_ratings"]
    if not public and not options["owner_only"]:
        raise SettingError(
            "the range is a fact about the ratings that it is looked for on, and these may "
            "be private",
            remedy="leave --ratings out to use invented people; say --public-ratings if "
            "everybody may see them; or --owner-only to book it and keep the answer",
        )
    items = options["items"]
    item_file = None if items is None or items.isdigit() else items
    ratings_and_items = read_data(
        options["ratings"],
        options | {"duplicates": "last", "scale": declared_scale(options), "items": item_file},
    )
    if not public:
        from tacit.fitting.publish import book_evaluation

        book_evaluation(options["ledger"], options["population"], owner_only=True)
    return ratings_and_items
