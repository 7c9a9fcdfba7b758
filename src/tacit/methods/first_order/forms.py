"""Which form of `bias` and `bayes` a fit without noise takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tacit.methods.base import Form, Method, Public
from tacit.rounds.options import Calibration

Forms: TypeAlias = Mapping[Calibration, type[Form] | str]
"""Who plans under each calibration: `Method.forms`."""


class FirstForms(Method):
    """A method whose twin is fitted in one piece.

    Other engines than threads give sums alone, and a start is built upon by sums: there
    `none` is `sound` without its noise.
    """

    def _form_of(self, public: Public) -> Form:
        sums = public.start is not None or self.engine not in (None, "threads")
        if public.calibration == "none" and sums:
            return self.form("sound")
        return super()._form_of(public)
