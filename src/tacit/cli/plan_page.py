"""How `tacit plan` looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.show import say, table

if TYPE_CHECKING:
    from tacit.data.schema import Schema
    from tacit.evaluation.forecast import Forecast
    from tacit.evaluation.plan_report import Outlook

LABEL = 22
"""Letters before what a line says."""
NAMES = {
    "people/level": "how high people rate on the whole",
    "weights/weights": "how often each item is rated",
    "effects": "how much each item is liked",
    "covariance": "which items are liked together",
    "sweep": "how items answer to tastes, better with each",
    "tastes": "how much tastes for features of items differ",
    "implied": "what a choice of items says of tastes",
    "agreement": "how far to believe that",
    "choice": "how widely people differ",
    "popularity": "how often each item is rated or liked",
    "gram": "which items are liked together (a Gram matrix)",
    "along": "how much of it is popularity alone",
}
"""What a release is about, by how its name begins."""
RMSE = (
    "RMSE is how far a predicted rating usually is off, in points of the scale from {low:g} to "
    "{high:g}; lost is how much of it privacy adds. Less is better."
)
RECALL = (
    "Recall@20 is the share of what a person likes, and the model was not told, that is among "
    "its twenty suggestions; kept is how much of it privacy leaves. More is better."
)


def print_plan(
    outlook: Outlook, users: int | None, schema: Schema, *, in_letters: bool = False
) -> None:
    """What an attacker gains and what accuracy is lost, and then how the budget is spent."""
    facts = outlook.facts
    people = "people" if users is None else f"{users:,} people"
    say(f"{facts['method']} for {people} and {facts['items']:,} items, unit {facts['unit']}\n")
    likes = outlook.forecast is not None and outlook.forecast.metric != "rmse"
    _attacker(facts["attacker"], likes=likes)
    if outlook.forecast is not None:
        _forecast(outlook.forecast, schema, in_letters=in_letters)
    elif facts["expected"] is not None:
        e, unit = facts["expected"], schema.unit_width
        _line(
            "expected RMSE",
            f"{unit * e['private']:.3f} on one invented population of this shape; "
            f"{unit * e['twin']:.3f} without noise, {unit * e['own_mean']:.3f} from one's own "
            "mean alone",
        )
        say(RMSE.format(low=schema.low, high=schema.high))
    if facts["better_list"]:
        say()
        _line("for lists", facts["better_list"])
    say("\nHow the budget is spent, for specialists:")
    for sentence in facts["story"]:
        say(f"- {sentence}")
    for sentence in facts["unknown"]:
        say(f"- NOT KNOWN HERE: {sentence}")
    say()
    _releases(facts["releases"])
    _outlay(facts["outlay"])
    say("nothing was spent")


def _line(label: str, text: str) -> None:
    say(f"{label:{LABEL}}{text}")


def _about(release: str) -> str | None:
    """What a release is about, in plain words; None where nobody said."""
    for prefix, text in NAMES.items():
        if release.startswith(prefix):
            return text
    return None


def _releases(releases: list[dict[str, Any]]) -> None:
    rows = [
        (
            e["release"],
            _about(e["release"]),
            f"as {e['instead']}" if e["instead"] else f"{100 * e['share']:.1f} %",
            f"{e['noise_sd']:.4g}",
            e["items_above"],
        )
        for e in releases
    ]
    table(("release", "about", "of the budget", "noise sd", "items above it"), rows)
    say(
        "Noise sd is how far noise usually moves a released number; items above it are those "
        "whose number is likely larger, so that something is learned of them."
    )
    say()
    bounds = dict[str, list[str]]()
    for release in releases:
        bounds.setdefault(release["bound"], []).append(release["release"])
    for bound, names in bounds.items():
        _line("one unit may add", f"{bound} ({', '.join(names)})")
    if any("L2 norm" in bound for bound in bounds):
        _line(
            "",
            "an L2 norm is the length of a list of numbers: the root of the sum of their squares",
        )


def _outlay(facts: dict[str, Any]) -> None:
    rank = facts["rank"]
    user_factors = f"{rank} directions of taste (rank)" if rank else "no tastes"
    _line(
        "takes",
        f"{facts['rounds']} rounds, {user_factors}, {size(facts['released_bytes'])} released"
        + ("" if facts["seconds"] is None else f", {duration(facts['seconds'])}")
        + (
            ""
            if facts["memory_bytes"] is None
            else f" and {size(facts['memory_bytes'])} of memory on one core"
        ),
    )


def _attacker(gain: dict[str, Any] | None, *, likes: bool) -> None:
    if gain is None:
        say(
            "NOT PRIVATE: with --calibration none nothing is noised, and an attacker may "
            "learn everything"
        )
    elif not gain["proven"]:
        _line(
            "attacker",
            "nothing is proven: the noise is as printed, and what it claims no theorem here backs",
        )
    else:
        from tacit.ledger.account.odds import in_chances
        from tacit.ledger.account.rounded import up
        from tacit.ledger.statement.words import as_likes

        text = gain["words"]
        _line("attacker", as_likes(text) if likes else text)
        if gain["odds_times"] is not None:
            _line(
                "in odds",
                f"whatever odds he gave it before, they grow at most {up(gain['odds_times'], 3)} "
                f"times, {in_chances(gain['odds_rare'])}",
            )


def _forecast(forecast: Forecast, schema: Schema, *, in_letters: bool) -> None:
    from tacit.evaluation.cost import NAME
    from tacit.evaluation.report import curve

    rated = forecast.metric == "rmse"
    noun = "ratings" if rated else "likes"
    say()
    say(
        "Forecast: nine data sets in ten of this shape should lie from the one to the other "
        f"(by the model {NAME!r})"
    )
    table(("epsilon", *curve.headings(forecast)), [curve.cells(line) for line in forecast.lines])
    rmse = RMSE.format(low=schema.low, high=schema.high)
    say(rmse if rated else RECALL)
    if forecast.each is None:
        say(f"- surer with --each, the number of {noun} a person")
    if forecast.spread is None and rated:
        say("- RMSE itself is surer with --spread, the RMSE of a person's own mean")
    if forecast.popular_share is None and not rated:
        say(
            "- surer with --popular-share, recall of the most liked items beside recall without "
            "privacy"
        )
    if in_letters:
        say()
        say(curve.in_letters(forecast))


def size(count: float) -> str:
    """`12 kB`, `1.4 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """`under a second`, `12 s`, `5 minutes`, `2.1 hours`."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
