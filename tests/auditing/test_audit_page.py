"""The page of an audit keeps what was measured apart from what was computed."""

from __future__ import annotations

import re

from tacit.auditing.audit import Audit
from tacit.auditing.audit_page import audit_page
from tacit.auditing.verdict import AttackFinding


def _finding(attack, measured, mistake):
    return AttackFinding(
        attack=attack,
        method="bias",
        unit="user",
        calibration="sound",
        claimed=1.0,
        proven=1.0,
        measured=measured,
        delta=1e-6,
        mistake=mistake,
    )


def test_what_was_computed_is_not_under_measured():
    found = (_finding("one run", 0.11, 0.05), _finding("pair", 0.78, 0.0))
    page = audit_page(Audit(found, mistake=0.05, quick=True))
    every = page[page.index("Every attack") :]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", every)]
    told = {row[2]: tuple(row[4:6]) for row in rows if row}
    assert told == {"one run": ("0.11", "–"), "pair": ("–", "0.78")}
