"""`tacit choose` as a page: words, three candidates and one picture, for somebody who decides
and is not a specialist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.evaluation.choose import LARGEST
from tacit.evaluation.cost import NAME
from tacit.evaluation.deployments import DEPLOYMENTS
from tacit.evaluation.report.charts import picture
from tacit.evaluation.report.curve import draw_costs, labels
from tacit.ledger.account.odds import but_for
from tacit.ledger.account.rounded import percent as at_most
from tacit.ledger.account.rounded import up
from tacit.page import card, cards, escaped, page, paragraph, table

if TYPE_CHECKING:
    from tacit.evaluation.choose import Candidate, EpsilonChoice
    from tacit.evaluation.cost import NineInTen

WHO = {
    "user": "a person: everything she ever rated counts as one",
    "rating": "one rating of one person; several of hers may tell more than one does",
    "value": "how one rating turned out; that it was given is taken to be public",
}
ON_PAPER = 10.0
"""From here on docs/choosing-epsilon.md calls it a promise on paper."""
TITLE = "Choosing how private to be"
LEAD = (
    "Epsilon says how much any one person's data may change what is published. A small epsilon "
    "protects more and blurs more. No data was read for this page, and nothing was spent."
)


def choice_page(choice: EpsilonChoice) -> str:
    """The whole page."""
    forecast = choice.forecast
    sections = [
        ("", paragraph(f"{verdict(choice)} {meaning(choice)}") + _cards(choice)),
        ("What privacy costs here", _curve(choice)),
        ("Three candidates", candidate_table(choice) + _explained(choice)),
        ("What others chose", _deployments()),
        ("How sure this is", _sure(choice)),
    ]
    footer = (
        f"tacit choose · {forecast.method}, unit {forecast.unit}, delta {forecast.delta:g}, "
        f"{forecast.people:,} people, {forecast.items:,} items"
    )
    return page(TITLE, sections, lead=LEAD, footer=footer)


def verdict(choice: EpsilonChoice) -> str:
    """The answer in one or two sentences."""
    metric = "an RMSE" if choice.forecast.metric == "rmse" else "a recall@20"
    middle = choice.candidates[1]
    if choice.goal == "range":
        return _verdict_of_range(choice)
    goal = f"{metric} of {choice.target:g}"
    if not choice.met:
        last = choice.candidates[-1]
        return (
            f"No epsilon up to {LARGEST:g} is likely to reach {goal} with "
            f"{choice.forecast.method} and this many people: at epsilon {last.epsilon:g} expect "
            f"{interval(last.expected)}. More people help most."
        )
    sure = choice.candidates[-1]
    return (
        f"An epsilon of {middle.epsilon:g} has an even chance to reach {goal}; with "
        f"{sure.epsilon:g} the chance is {percent(sure.chance)}."
    )


def _verdict_of_range(choice: EpsilonChoice) -> str:
    first = choice.candidates[0]
    last = choice.candidates[-1]
    if first.overlap is None:
        return (
            "At no epsilon that was tried do lists keep a fifth of what they would hold "
            "without privacy: there are too few people for lists. The candidates say what "
            "predictions lose."
        )
    text = (
        f"From epsilon {first.epsilon:g} on, lists of 30 keep a fifth or more of what they would "
        "hold without privacy; "
    )
    if choice.met:
        return text + (
            f"above {last.epsilon:g} they keep more than four fifths, and more epsilon buys little."
        )
    return text + (f"even at {last.epsilon:g} they keep no more than {percent(last.overlap)}.")


def meaning(choice: EpsilonChoice) -> str:
    """What is measured, in plain words."""
    forecast = choice.forecast
    if forecast.metric == "rmse":
        return (
            "RMSE is how far a predicted rating is off, in points of the scale from "
            f"{forecast.low:g} to {forecast.high:g}; smaller is better."
        )
    return (
        "Recall@20 is the share of what a person likes, and the model was not told, that is "
        "among its twenty suggestions; larger is better."
    )


def candidate_table(choice: EpsilonChoice) -> str:
    """The three beside each other."""
    metric = "RMSE" if choice.forecast.metric == "rmse" else "recall@20"
    columns = [
        "candidate",
        "epsilon",
        f"{metric}, nine in ten",
        labels(choice.forecast)[1],
        "odds grow at most",
        "right guesses at most",
        "epsilon of ten releases",
    ]
    rows = [
        [
            candidate.name,
            f"{candidate.epsilon:g}",
            interval(candidate.expected),
            interval(candidate.line.cost),
            times(candidate.odds_times),
            guesses(candidate.best_guess),
            f"{candidate.ten:.3g}",
        ]
        for candidate in choice.candidates
    ]
    if choice.goal != "range":
        columns.append("goal met")
        for row, candidate in zip(rows, choice.candidates, strict=True):
            row.append(percent(candidate.chance))
    return table(columns, rows)


def interval(bounds: NineInTen) -> str:
    """`.871 to .902`, with the sign where a number is below 0."""
    return f"{bounds.low:.3f} to {bounds.high:.3f}"


def percent(share: float | None, digits: int = 0) -> str:
    """`54.7 %`; a dash where nothing is known."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def rarely(delta: float) -> str:
    """`one in a million`."""
    if delta == 1e-6:
        return "one in a million"
    return f"one in {round(1 / delta):,}"


def guesses(share: float) -> str:
    """How often a guess is right at most."""
    return f"{at_most(share)} %"


def times(factor: float) -> str:
    """How odds grow at most, as people say it."""
    if factor < 10:
        return f"{up(factor, 2)} times"
    if factor < 1e6:
        return f"{float(up(factor, 2)):,.0f} times"
    return "over a million times"


def _cards(choice: EpsilonChoice) -> str:
    rendered = []
    metric = "an RMSE" if choice.forecast.metric == "rmse" else "a recall@20"
    for candidate in choice.candidates:
        text = (
            f"{candidate.name}: expect {metric} of {interval(candidate.expected)}; an attacker "
            "guesses right "
            f"{guesses(candidate.best_guess)} of the time at most"
        )
        weak = candidate.epsilon >= ON_PAPER
        if weak:
            text += "; from epsilon 10 on it is a promise on paper, only with good reasons"
        rendered.append(card(f"ε = {candidate.epsilon:g}", text, warn=weak))
    return cards(rendered)


def _curve(choice: EpsilonChoice) -> str:
    forecast = choice.forecast
    long, short = labels(forecast)
    description = "; ".join(
        f"{candidate.name} at epsilon {candidate.epsilon:g}: {interval(candidate.line.cost)}"
        for candidate in choice.candidates
    )
    return paragraph(
        f"The curve shows {long}. The band holds nine data sets in ten of this shape."
    ) + picture(
        "costs",
        draw_costs(forecast, choice.marks()),
        description=f"{short} against epsilon. {description}.",
        caption="Each candidate stands on the curve with its own interval.",
        private=True,
    )


def _explained(choice: EpsilonChoice) -> str:
    unit = choice.forecast.unit
    delta = choice.forecast.delta
    parts = [paragraph(f"Protected is {WHO[unit]}.")]
    parts += [
        f"<p><b>{escaped(candidate.name.capitalize())}, "
        f"epsilon {candidate.epsilon:g}.</b> {escaped(_candidate_text(candidate, delta))}</p>"
        for candidate in choice.candidates
    ]
    return "".join(parts)


def _candidate_text(candidate: Candidate, delta: float) -> str:
    return (
        f"{candidate.words} Whatever odds somebody gave it before, they grow at most "
        f"{times(candidate.odds_times)}, {but_for(delta)}. Ten such releases "
        f"about the same people add up to epsilon {candidate.ten:.3g}."
    )


def _deployments() -> str:
    rows = [
        (deployment.who, deployment.what, deployment.epsilon, deployment.about, deployment.source)
        for deployment in DEPLOYMENTS
    ]
    return paragraph(
        "An epsilon can only be compared with another of the same unit and period: one person "
        "for good is a stronger promise than one person for a day."
    ) + table(("who", "what", "epsilon", "protected, and for how long", "source"), rows)


def _sure(choice: EpsilonChoice) -> str:
    forecast = choice.forecast
    text = (
        f"The numbers come from the model “{NAME}”, which was fitted to runs of this program "
        "on invented people and on parts of public sets of film ratings. Nine data sets in ten "
        "should lie inside an interval. "
    )
    if forecast.each is None:
        noun = "ratings" if forecast.metric == "rmse" else "likes"
        text += f"It would be surer if somebody said how many {noun} a person has. "
    if choice.twin is None and forecast.spread is None:
        text += (
            "The accuracy itself, unlike its loss, depends on how predictable people are, which "
            "nobody said: therefore its interval is wide."
        )
    return paragraph(text)
