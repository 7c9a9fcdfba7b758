"""What operators see: counters for Prometheus and logs as lines of JSON. Neither holds an
id, a vector or a rating."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import defaultdict
from traceback import walk_tb
from types import TracebackType
from typing import Any

LOG = logging.getLogger("tacit.serving")
"""Of all servers of Tacit."""
MOST_PLACES = 12
"""Of a fault that a line of the log names: the innermost ones."""


BUCKETS = {
    "phase_seconds": (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600),
    "round_devices": (2, 5, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6),
    "upload_bytes": (256, 1024, 4096, 2**14, 2**16, 2**18, 2**20, 2**22, 2**25),
    "sum_bytes": (256, 1024, 4096, 2**14, 2**16, 2**18, 2**20, 2**22, 2**25),
    "sum_seconds": (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100),
}
"""Upper edges of the histograms, by name: about half a decade apart over what was seen."""


class Metrics:
    """Counters, gauges and histograms, printed as Prometheus text.

    Counters only grow while the process lives; their names end in `_total`. `role` is the
    server's name and the first word of every metric after `tacit`.
    """

    def __init__(self, role: str) -> None:
        self.role = role
        self.counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.gauges = dict[str, float]()
        self.seen: dict[tuple[str, str], list[float]] = {}
        """Of histograms: the count of each bucket, of all, and the sum."""

    def add(self, name: str, amount: float = 1, label: str = "") -> None:
        """Count something; `label` is in the words of Prometheus."""
        self.counts[name, label] += amount

    def observe(self, name: str, value: float, label: str = "") -> None:
        """Add a value to a histogram, which has its edges in `BUCKETS`."""
        edges = BUCKETS[name]
        counts = self.seen.setdefault((name, label), [0.0] * (len(edges) + 2))
        for index, edge in enumerate(edges):
            counts[index] += value <= edge
        counts[-2] += 1
        counts[-1] += value

    def _histograms(self) -> list[str]:
        lines = []
        for (name, label), counts in sorted(self.seen.items()):
            full, comma = f"tacit_{self.role}_{name}", "," if label else ""
            edges = [*(f"{edge:g}" for edge in BUCKETS[name]), "+Inf"]
            for edge, count in zip(edges, counts[:-1], strict=True):
                lines.append(f'{full}_bucket{{{label}{comma}le="{edge}"}} {count:g}')
            braced = f"{{{label}}}" if label else ""
            lines.append(f"{full}_count{braced} {counts[-2]:g}")
            lines.append(f"{full}_sum{braced} {counts[-1]:g}")
        return lines

    def text(self, **extra_gauges: float) -> str:
        """All of them, and `extra_gauges` gauges."""
        lines = []
        for (name, label), value in sorted(self.counts.items()):
            lines.append(
                f"tacit_{self.role}_{name}_total{'{' + label + '}' if label else ''} {value:g}"
            )
        lines += self._histograms()
        lines += [
            f"tacit_{self.role}_{name} {value:g}"
            for name, value in sorted((self.gauges | extra_gauges).items())
        ]
        return "\n".join(lines) + "\n"


def fault_locations(trace: TracebackType | None) -> list[str]:
    """Where a fault came from, as modules and lines, the innermost last: no value, no path."""
    frames = [f"{frame.f_globals.get('__name__', '?')}:{line}" for frame, line in walk_tb(trace)]
    return frames[-MOST_PLACES:]


class Lines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The event, and the facts that were given with it."""
        facts: dict[str, Any] = {"time": round(time.time(), 3), "level": record.levelname.lower()}
        facts["event"] = record.getMessage()
        facts |= record.__dict__.get("facts", {})
        if record.exc_info and record.exc_info[0]:
            # never the text: it could quote a message
            facts["fault"] = record.exc_info[0].__name__
            facts["places"] = fault_locations(record.exc_info[2])
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
