"""The plan that a rehearsal has made and priced, for a trial of the very same method over the
same public facts: an evaluation rehearses before it books itself, and need not plan twice."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.data.catalogue import Catalogue
from tacit.fitting.price import Priced
from tacit.methods.base import Method, Public


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """A method and what was planned for it."""

    method: Method
    public: Public
    priced: Priced

    def plan_for(self, method: Method, public: Public) -> Priced | None:
        """The same plan, where it would be made again; None where anything differs."""
        same = (
            method is self.method
            and _plain(public)
            and _plain(self.public)
            and _alike(public.catalogue, self.public.catalogue)
            and replace(public, catalogue=self.public.catalogue) == self.public
        )
        return self.priced if same else None


def _plain(public: Public) -> bool:
    """Without what is too large to be compared in passing."""
    return public.pattern is None and public.start is None and not public.known


def _alike(one: Catalogue, other: Catalogue) -> bool:
    """The same object, or ids alone, which are the same."""
    if one is other:
        return True
    bare = not (one.has_features or other.has_features)
    return bare and (one.titles, one.ids) == (other.titles, other.ids)
