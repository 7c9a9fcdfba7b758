"""Ports for servers under test that nothing else can take before the server does.

A port that the kernel lends (`bind` to 0) is free only until it is lent again, to any outgoing
connection of any process: a server that starts a second later may find it taken. These come from
below the range that is lent, each test process walks a lane of its own from a place of its own.
"""

from __future__ import annotations

import itertools
import os
import re
import socket

FIRST = 12_000
"""Above what services of a machine use, and below 32,768, where Linux begins to lend."""

LANE = 2_000
LANES = 10


def _lane() -> int:
    """The number of this worker among those of pytest-xdist."""
    name = os.environ.get("PYTEST_XDIST_WORKER", "")
    return int(re.sub(r"\D", "", name) or 0) % LANES


_steps = itertools.count(os.getpid())


def free_port() -> int:
    """A port of this process's lane on which nobody listens; no port twice in `LANE` calls."""
    for _ in range(LANE):
        port = FIRST + _lane() * LANE + next(_steps) % LANE
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise RuntimeError(f"no port is free from {FIRST} on")
