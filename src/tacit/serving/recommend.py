"""`POST /recommend`, for clients that choose to send their ratings: none is kept or logged.

It is off unless asked for: the page never uses it, and what it is sent has left its owner's device.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tacit.data.catalogue import bare_title, fold
from tacit.model.model import Model, Recommendation

REACH_80 = 1.2815515655446004
"""Standard deviations on each side of an interval that holds 80 %."""
MOST_RATINGS = 2_000
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Rated(BaseModel):
    """One own rating. Of a model of likes the value may be left out."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    item: Name
    """The id, or the title."""
    rating: float | None = None


class Question(BaseModel):
    """What a client asks."""

    model_config = ConfigDict(extra="forbid")

    ratings: list[Rated] = Field(max_length=MOST_RATINGS)
    n: int = Field(10, ge=1, le=200)
    by: Literal["rating", "liked", "explore"] | None = None
    exclude: list[Name] = Field([], max_length=MOST_RATINGS)


class Line(BaseModel):
    """One item of the list; `low` and `high` hold a new rating with chance 80 %. A model of
    likes expects no rating: null."""

    item: str
    title: str
    rating: float | None
    error: float | None
    low: float | None
    high: float | None
    score: float
    because: list[str]


class Recommended(BaseModel):
    """A list, and what the model does not know."""

    model: str
    recommendations: list[Line]
    unknown: list[str]


def answer(name: str, model: Model, question: Question) -> Recommended:
    """From the published model and these ratings alone."""
    rated = list[tuple[str, float | None, None, None]]()
    unknown = list[str]()
    for rating in question.ratings:
        if _is_in_model(model, rating.item):
            rated.append((rating.item, rating.rating, None, None))
        else:
            unknown.append(rating.item)
    user_ratings = model.own(rated).own
    exclude = [item for item in question.exclude if _is_in_model(model, item)]
    lines = model.recommend_own(user_ratings, question.n, by=question.by, exclude=exclude)
    return Recommended(
        model=name, recommendations=[_line(model, line) for line in lines], unknown=unknown
    )


def _is_in_model(model: Model, text: str) -> bool:
    """Without a search for what looks alike, which would cost a server too much."""
    catalogue = model.shared.catalogue
    titles = catalogue.by_title
    return text in catalogue.index or fold(text) in titles or fold(bare_title(text)) in titles


def _line(model: Model, line: Recommendation) -> Line:
    schema = model.shared.schema
    low = high = None
    if line.rating is not None and line.error is not None:
        reach = REACH_80 * line.error
        low = max(line.rating - reach, schema.low)
        high = min(line.rating + reach, schema.high)
    return Line(
        item=line.item,
        title=line.title,
        rating=line.rating,
        error=line.error,
        low=low,
        high=high,
        score=line.score,
        because=list(line.because),
    )
