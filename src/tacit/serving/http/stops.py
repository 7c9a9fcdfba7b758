"""A server that was told to stop and did so has not failed."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType


def end_well() -> None:
    """Let SIGTERM end this process with status 0. uvicorn puts it off until requests have ended,
    and raises it again then: the system's own answer would be a status of failure."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
