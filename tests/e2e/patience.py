"""How long tests wait for what must come: never a measure of speed, for other work may have the
cores."""

from __future__ import annotations

PATIENCE = 240.0
"""Seconds for a training, a start or an end. One that passes does not wait for them."""
