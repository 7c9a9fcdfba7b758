"""Which code computed a cell: a digest of Tacit's own source.

A version says too little while somebody changes the code, and a cell of yesterday's code beside
one of today's is a comparison of nothing.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

WITHOUT = ("auditing", "cli", "serving", "testing")
"""Rooms that no fit and no metric goes through."""
DIGITS = 16


@cache
def code_digest() -> str:
    """Of every module that a fit or a metric may go through. Methods of other packages are
    not in it."""
    return digest_of(Path(__file__).parent.parent)


def digest_of(root: Path) -> str:
    """Of the Python files under a folder, by their names and bytes."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        inner = path.relative_to(root)
        if inner.parts[0] in WITHOUT:
            continue
        digest.update(f"{inner.as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:DIGITS]
