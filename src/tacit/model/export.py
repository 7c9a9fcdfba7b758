"""The published arrays as files that other systems read (`tacit.model.person.exported`)."""

from __future__ import annotations

from tacit.model.person.exported import export_arrays, export_pairs

__all__ = ["export_arrays", "export_pairs"]
