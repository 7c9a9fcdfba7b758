"""What a process has loaded by now stays for as long as it runs."""

from __future__ import annotations

import gc

YOUNG = 20_000
"""New objects before the collector looks for cycles among them: a message makes some dozens,
nearly all of which end by themselves."""


def leave_what_is_loaded() -> None:
    """Have the collector pass over all that is here, modules for the most part: going through
    them again and again took a twentieth of a server's time.

    For a process that does one thing until its end. What becomes garbage later is collected
    as before.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
