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


def choice_page(found: EpsilonChoice) -> str:
    """The whole page."""
    told = found.forecast
    sections = [
        ("", paragraph(f"{verdict(found)} {meaning(found)}") + _cards(found)),
        ("What privacy costs here", _curve(found)),
        ("Three candidates", candidate_table(found) + _explained(found)),
        ("What others chose", _others()),
        ("How sure this is", _sure(found)),
    ]
    footer = (
        f"tacit choose · {told.method}, unit {told.unit}, delta {told.delta:g}, "
        f"{told.people:,} people, {told.items:,} items"
    )
    return page(TITLE, sections, lead=LEAD, footer=footer)


def verdict(found: EpsilonChoice) -> str:
    """The answer in one or two sentences."""
    metric = "an RMSE" if found.forecast.metric == "rmse" else "a recall@20"
    middle = found.candidates[1]
    if found.goal == "range":
        return _verdict_of_range(found)
    goal = f"{metric} of {found.target:g}"
    if not found.met:
        last = found.candidates[-1]
        return (
            f"No epsilon up to {LARGEST:g} is likely to reach {goal} with "
            f"{found.forecast.method} and this many people: at epsilon {last.epsilon:g} expect "
            f"{interval(last.expected)}. More people help most."
        )
    sure = found.candidates[-1]
    return (
        f"An epsilon of {middle.epsilon:g} has an even chance to reach {goal}; with "
        f"{sure.epsilon:g} the chance is {percent(sure.chance)}."
    )


def _verdict_of_range(found: EpsilonChoice) -> str:
    first = found.candidates[0]
    last = found.candidates[-1]
    if first.overlap is None:
        return (
            "At no epsilon that was tried do lists keep a fifth of what they would hold "
            "without privacy: there are too few people for lists. The candidates say what "
            "predictions lose."
        )
    told = (
        f"From epsilon {first.epsilon:g} on, lists of 30 keep a fifth or more of what they would "
        "hold without privacy; "
    )
    if found.met:
        return told + (
            f"above {last.epsilon:g} they keep more than four fifths, and more epsilon buys little."
        )
    return told + (f"even at {last.epsilon:g} they keep no more than {percent(last.overlap)}.")


def meaning(found: EpsilonChoice) -> str:
    """What is measured, in plain words."""
    told = found.forecast
    if told.metric == "rmse":
        return (
            "RMSE is how far a predicted rating is off, in points of the scale from "
            f"{told.low:g} to {told.high:g}; smaller is better."
        )
    return (
        "Recall@20 is the share of what a person likes, and the model was not told, that is "
        "among its twenty suggestions; larger is better."
    )


def candidate_table(found: EpsilonChoice) -> str:
    """The three beside each other."""
    metric = "RMSE" if found.forecast.metric == "rmse" else "recall@20"
    columns = [
        "candidate",
        "epsilon",
        f"{metric}, nine in ten",
        labels(found.forecast)[1],
        "odds grow at most",
        "right guesses at most",
        "epsilon of ten releases",
    ]
    rows = [
        [
            one.name,
            f"{one.epsilon:g}",
            interval(one.expected),
            interval(one.line.cost),
            times(one.odds_times),
            guesses(one.best_guess),
            f"{one.ten:.3g}",
        ]
        for one in found.candidates
    ]
    if found.goal != "range":
        columns.append("goal met")
        for row, one in zip(rows, found.candidates, strict=True):
            row.append(percent(one.chance))
    return table(columns, rows)


def interval(found: NineInTen) -> str:
    """`.871 to .902`, with the sign where a number is below 0."""
    return f"{found.low:.3f} to {found.high:.3f}"


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


def _cards(found: EpsilonChoice) -> str:
    made = []
    metric = "an RMSE" if found.forecast.metric == "rmse" else "a recall@20"
    for one in found.candidates:
        words = (
            f"{one.name}: expect {metric} of {interval(one.expected)}; an attacker guesses right "
            f"{guesses(one.best_guess)} of the time at most"
        )
        weak = one.epsilon >= ON_PAPER
        if weak:
            words += "; from epsilon 10 on it is a promise on paper, only with good reasons"
        made.append(card(f"ε = {one.epsilon:g}", words, warn=weak))
    return cards(made)


def _curve(found: EpsilonChoice) -> str:
    told = found.forecast
    long, short = labels(told)
    words = "; ".join(
        f"{one.name} at epsilon {one.epsilon:g}: {interval(one.line.cost)}"
        for one in found.candidates
    )
    return paragraph(
        f"The curve shows {long}. The band holds nine data sets in ten of this shape."
    ) + picture(
        "costs",
        draw_costs(told, found.marks()),
        told=f"{short} against epsilon. {words}.",
        caption="Each candidate stands on the curve with its own interval.",
        private=True,
    )


def _explained(found: EpsilonChoice) -> str:
    unit = found.forecast.unit
    delta = found.forecast.delta
    parts = [paragraph(f"Protected is {WHO[unit]}.")]
    parts += [
        f"<p><b>{escaped(one.name.capitalize())}, "
        f"epsilon {one.epsilon:g}.</b> {escaped(_words(one, delta))}</p>"
        for one in found.candidates
    ]
    return "".join(parts)


def _words(one: Candidate, delta: float) -> str:
    return (
        f"{one.words} Whatever odds somebody gave it before, they grow at most "
        f"{times(one.odds_times)}, {but_for(delta)}. Ten such releases "
        f"about the same people add up to epsilon {one.ten:.3g}."
    )


def _others() -> str:
    rows = [(one.who, one.what, one.epsilon, one.about, one.source) for one in DEPLOYMENTS]
    return paragraph(
        "An epsilon can only be compared with another of the same unit and period: one person "
        "for good is a stronger promise than one person for a day."
    ) + table(("who", "what", "epsilon", "protected, and for how long", "source"), rows)


def _sure(found: EpsilonChoice) -> str:
    told = found.forecast
    words = (
        f"The numbers come from the model “{NAME}”, which was fitted to runs of this program "
        "on invented people and on parts of public sets of film ratings. Nine data sets in ten "
        "should lie inside an interval. "
    )
    if told.each is None:
        what = "ratings" if told.metric == "rmse" else "likes"
        words += f"It would be surer if somebody said how many {what} a person has. "
    if found.twin is None and told.spread is None:
        words += (
            "The accuracy itself, unlike its loss, depends on how predictable people are, which "
            "nobody said: therefore its interval is wide."
        )
    return paragraph(words)
