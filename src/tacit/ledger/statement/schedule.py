"""What a statement says of a calendar: one budget for many releases, of which this is one."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Schedule(BaseModel):
    """A fixed calendar of releases that one entry of the book has paid for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    horizon: int = Field(ge=2)
    """Releases in all."""
    week: int = Field(ge=1)
    """Which of them this is: so many were released so far."""
    times: int = Field(ge=1)
    """How often one person is counted, in all of them together."""
    gap: int = Field(default=1, ge=1)
    """Releases from one time to the next, at least."""
    begins: str | None = None
    """Day on which the first period begins; None where each table is a period."""
    days: int | None = None
    """Of each period."""

    def lines(self) -> tuple[str, ...]:
        """In words, for `tell`."""
        times = "once" if self.times == 1 else f"at most {self.times} times"
        gap_note = ""
        if self.times > 1 and self.gap > 1:
            gap_note = f", at least {self.gap} releases apart"
        when = "the owner says which ratings belong to which release"
        if self.begins is not None:
            when = f"each covers {self.days} days, from {self.begins} on"
        return (
            f"This is release {self.week} of {self.horizon} of a fixed calendar: {when}.",
            (
                f"The promise is about all {self.horizon} releases together: they are paid "
                "for by one entry of the book, and releasing all of them costs no more."
            ),
            (
                f"Each person is counted {times} in all of them{gap_note}; who was counted "
                "is kept by the owner as a keyed list that the book seals."
            ),
        )
