"""What others chose in public, for comparison. Every line names the document that says it; an
epsilon means little without its unit and its period."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Deployment:
    """One published choice."""

    who: str
    what: str
    epsilon: str
    """As published: a number, or a range."""
    about: str
    """The unit of the promise and the period that it covers."""
    source: str


DEPLOYMENTS = (
    Deployment(
        "Wikimedia Foundation",
        "page views by country and day",
        "about 1",
        "a reader's page views of one day, up to a cap",
        "Adeleye et al. 2023, Publishing Wikipedia usage data with strong privacy guarantees",
    ),
    Deployment(
        "Google",
        "COVID-19 Community Mobility Reports",
        "2.64",
        "a person's visits of one day",
        "Aktay et al. 2020, Google COVID-19 Community Mobility Reports: Anonymization "
        "Process Description",
    ),
    Deployment(
        "Apple",
        "emoji, lookup hints, Safari domains, health types",
        "2 to 8",
        "one device's reports of one day on one use, in the local model",
        "Apple, Differential Privacy Technical Overview",
    ),
    Deployment(
        "LinkedIn",
        "Labor Market Insights",
        "14.4",
        "a member's hiring events over three months",
        "Rogers et al. 2020, A Members First Approach to Enabling LinkedIn's Labor Market "
        "Insights at Scale",
    ),
    Deployment(
        "US Census Bureau",
        "2020 Census redistricting data",
        "19.61",
        "one person (17.14) and one housing unit (2.47), once in ten years",
        "US Census Bureau, press release of 9 June 2021 on the parameters of the 2020 Census",
    ),
    Deployment(
        "LinkedIn",
        "Audience Engagements API",
        "34.9",
        "a member's engagement, over one month",
        "Rogers et al. 2020, LinkedIn's Audience Engagements API: A Privacy Preserving Data "
        "Analytics System at Scale",
    ),
)
"""In the order of epsilon, as far as epsilons can be compared."""
