"""How a process of a federation that runs for long uses its processor: what it has loaded
stays, and its two threads take short turns."""

from __future__ import annotations

import gc
import sys

YOUNG = 20_000
"""New objects before the collector looks for cycles among them: a message makes some dozens,
nearly all of which end by themselves."""
TURN_SECONDS = 0.0005
"""That a thread waits for another one to let it go on. A server's store asks to go on after
each statement, and Python's own five milliseconds make a commit of fifty of them wait for
the messages of others: a sixth of a round."""


def take_short_turns() -> None:
    """Have threads take shorter turns, in a process with two of them that both have much to
    do."""
    sys.setswitchinterval(TURN_SECONDS)


def leave_what_is_loaded() -> None:
    """Have the collector pass over all that is here, modules for the most part: going through
    them again and again took a twentieth of a server's time.

    For a process that does one thing until its end. What becomes garbage later is collected
    as before.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
