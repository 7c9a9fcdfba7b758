"""For tests, of Tacit and of what is built on it: conformance classes, a sensitivity hunt,
and a seam for noise bits.

What is released while bits are injected says NOT PRIVATE.
"""

from __future__ import annotations

from tacit.auditing.hunt import hunt
from tacit.noise.bits import _inject as inject_bits
from tacit.testing.book import BookTests, PeopleTests
from tacit.testing.engine import EngineTests
from tacit.testing.method import AloneTests, MethodTests, broken, depends_on_others, not_alone
from tacit.testing.sampler import SamplerTests

__all__ = [
    "AloneTests",
    "BookTests",
    "PeopleTests",
    "EngineTests",
    "MethodTests",
    "SamplerTests",
    "broken",
    "depends_on_others",
    "hunt",
    "inject_bits",
    "not_alone",
]
