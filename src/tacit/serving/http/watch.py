"""What operators see: counters for Prometheus and logs as lines of JSON. Neither holds an
id, a vector or a rating."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import defaultdict
from typing import Any

LOG = logging.getLogger("tacit.serving")
"""Of all servers of Tacit."""


class Metrics:
    """Counters and gauges, printed as Prometheus text.

    Counters only grow while the process lives; their names end in `_total`. `role` is the
    server's name and the first word of every metric after `tacit`.
    """

    def __init__(self, role: str) -> None:
        self.role = role
        self.counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.gauges = dict[str, float]()

    def add(self, name: str, amount: float = 1, label: str = "") -> None:
        """Count something; `label` is in the words of Prometheus."""
        self.counts[name, label] += amount

    def text(self, **more: float) -> str:
        """All of them, and `more` gauges."""
        lines = []
        for (name, label), value in sorted(self.counts.items()):
            lines.append(
                f"tacit_{self.role}_{name}_total{'{' + label + '}' if label else ''} {value:g}"
            )
        lines += [
            f"tacit_{self.role}_{name} {value:g}"
            for name, value in sorted((self.gauges | more).items())
        ]
        return "\n".join(lines) + "\n"


class Lines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The event, and the facts that were given with it."""
        facts: dict[str, Any] = {
            "time": round(time.time(), 3),
            "level": record.levelname.lower(),
        }
        facts["event"] = record.getMessage()
        facts |= record.__dict__.get("facts", {})
        if record.exc_info and record.exc_info[0]:
            # never the text: it could quote a message
            facts["fault"] = record.exc_info[0].__name__
        return json.dumps(facts)


def start_logs(level: str = "INFO") -> None:
    """Write logs to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    LOG.handlers, LOG.propagate = [handler], False
    LOG.setLevel(level)


def log(event: str, **facts: Any) -> None:
    """One line: what happened, and counts that say where."""
    LOG.info(event, extra={"facts": facts})
