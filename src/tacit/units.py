"""Whom a promise is about."""

from __future__ import annotations

from typing import Literal

Unit = Literal["user", "rating", "value"]
"""`user`: a whole person with all her ratings. `rating`: one person-item cell, empty or
filled. `value`: the value of one rating, where who rated what is public."""
UNITS: tuple[Unit, ...] = ("user", "rating", "value")
