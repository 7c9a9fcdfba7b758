"""How `tacit plan` looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.show import say, table

if TYPE_CHECKING:
    from tacit.evaluation.forecast import Forecast
    from tacit.evaluation.worth import Outlook

LABEL = 22
"""Letters before what a line says."""


def print_plan(
    outlook: Outlook, users: int | None, *, in_letters: bool = False
) -> None:
    """The plan, the forecast, and what an attacker gains."""
    found = outlook.facts
    people = "people" if users is None else f"{users:,} people"
    say(
        f"{found['method']} for {people} and {found['items']:,} items, unit "
        f"{found['unit']}\n"
    )
    for sentence in found["story"]:
        say(f"- {sentence}")
    for sentence in found["unknown"]:
        say(f"- NOT KNOWN HERE: {sentence}")
    say()
    _releases(found["releases"])
    _outlay(found["outlay"])
    _attacker(found["attacker"])
    if outlook.forecast is not None:
        _forecast(outlook.forecast, in_letters=in_letters)
    elif found["expected"] is not None:
        e = found["expected"]
        _line(
            "expected RMSE",
            f"{e['private']:.3f} on one invented population of this shape; "
            f"{e['twin']:.3f} without noise, {e['own_mean']:.3f} from one's own mean alone",
        )
    say("nothing was spent")


def _line(label: str, words: str) -> None:
    say(f"{label:{LABEL}}{words}")


def _releases(releases: list[dict[str, Any]]) -> None:
    rows = [
        (
            e["release"],
            f"as {e['instead']}"
            if e["instead"]
            else f"{100 * e['share']:.1f} %",
            f"{e['noise_sd']:.4g}",
            e["items_above"],
        )
        for e in releases
    ]
    table(("release", "of the budget", "noise sd", "items above it"), rows)
    say()
    bounds = dict[str, list[str]]()
    for each in releases:
        bounds.setdefault(each["bound"], []).append(each["release"])
    for bound, names in bounds.items():
        _line("one unit may add", f"{bound} ({', '.join(names)})")


def _outlay(found: dict[str, Any]) -> None:
    rank = f"rank {found['rank']}" if found["rank"] else "no tastes"
    _line(
        "takes",
        f"{found['rounds']} rounds, {rank}, {size(found['released_bytes'])} released"
        + (
            ""
            if found["seconds"] is None
            else f", {duration(found['seconds'])}"
        )
        + (
            ""
            if found["memory_bytes"] is None
            else f" and {size(found['memory_bytes'])} of memory on one core"
        ),
    )


def _attacker(gain: dict[str, Any] | None) -> None:
    if gain is None:
        say(
            "NOT PRIVATE: with --calibration none nothing is noised, and an attacker may "
            "learn everything"
        )
    elif not gain["proven"]:
        _line(
            "attacker",
            "nothing is proven: the noise is as printed, and what it claims no theorem "
            "here backs",
        )
    else:
        from tacit.ledger.account.rounded import percent, up

        _line(
            "attacker",
            f"told apart with chance at most {percent(gain['best_guess'])} % "
            f"(a coin gives 50 %), advantage {gain['advantage']:.3f}",
        )
        _line("in words", gain["words"])
        if gain["odds_times"] is not None:
            from tacit.ledger.account.odds import in_chances

            _line(
                "in odds",
                f"whatever odds he gave it before, they grow at most {up(gain['odds_times'], 3)} "
                f"times, {in_chances(gain['odds_rare'])}",
            )


def _forecast(told: Forecast, *, in_letters: bool) -> None:
    from tacit.evaluation.cost import NAME
    from tacit.evaluation.report import curve

    say()
    say(f"Forecast by the model {NAME!r}: nine data sets in ten of this shape")
    table(
        ("epsilon", *curve.headings(told)),
        [curve.cells(line) for line in told.lines],
    )
    if told.each is None:
        say("- surer with --each, the number of ratings a person")
    if told.spread is None and told.metric == "rmse":
        say(
            "- RMSE itself is surer with --spread, the RMSE of a person's own mean"
        )
    if told.popular_share is None and told.metric != "rmse":
        say(
            "- surer with --popular-share, recall of the most liked items beside recall without "
            "privacy"
        )
    if in_letters:
        say()
        say(curve.in_letters(told))


def size(count: float) -> str:
    """`12 kB`, `1.4 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return (
                f"{count:.0f} {unit}" if count >= 10 else f"{count:.1f} {unit}"
            )
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
