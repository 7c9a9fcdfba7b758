"""What became of each bug, kept in a file: a run that was cut off can be taken up again."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from mutating.bug import Bug
from mutating.run import ROOT, Caught


class Book:
    """The rows of a table, written after every bug."""

    def __init__(self, path: Path | None, fresh: bool) -> None:
        self._path = path
        self._rows: dict[str, dict[str, Any]] = {}
        self._lock = Lock()
        if path and path.exists() and not fresh:
            self._rows = {row["bug"]: row for row in json.loads(path.read_text())}

    def find(self, bug: Bug) -> Caught | None:
        """What was caught before, if neither the patch nor its file has changed since."""
        now = stamp(bug)
        row = self._rows.get(bug.name)
        if not row or not row["caught_by"] or row["stamp"] != now:
            return None
        return Caught(bug, row["caught_by"], row["seconds"])

    def write(self, caught: Caught) -> None:
        """Enter one row and write the file."""
        bug = caught.bug
        row = {
            "bug": bug.name,
            "words": bug.words,
            "file": bug.file,
            "caught_by": caught.by or None,
            "why": caught.why,
            "seconds": round(caught.seconds, 1),
            "stamp": stamp(bug),
        }
        with self._lock:
            self._rows[bug.name] = row
            if self._path:
                rows = list(self._rows.values())
                self._path.write_text(json.dumps(rows, indent=1) + "\n")


@cache
def stamp(bug: Bug) -> str:
    """A digest of the patch and of the file that it spoils, as they were when first asked."""
    text = (ROOT / "src" / "tacit" / bug.file).read_text()
    parts = (text, bug.old, bug.new, *bug.caught_by)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
