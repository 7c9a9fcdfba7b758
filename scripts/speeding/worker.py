"""One process: read a table and fit a method in the checkout that is on its path.

`python -m speeding.worker CHECKOUT TABLE METHOD LIKES` prints the processor seconds of both, as
JSON. Nothing is used that a checkout of long ago has not.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from comparing.version import find, tacit

EPSILON = 1.0
LIKE = 4


def main() -> None:
    """See the module."""
    checkout, table, method, likes = Path(sys.argv[1]), *sys.argv[2:5]
    if not Path(tacit.__file__).resolve().is_relative_to(checkout):
        sys.exit(f"the tacit that was imported is not that of {checkout}: {tacit.__file__}")
    began = time.process_time()
    ratings = tacit.read(table, (1, 5), positive=LIKE if likes == "likes" else None)
    read = time.process_time()
    find(method)(epsilon=EPSILON, delta=1e-8, threads=1, ledger="book.db", population="speed").fit(
        ratings, users=len(ratings.users)
    )
    sys.stdout.write(json.dumps({"read": read - began, "fit": time.process_time() - read}) + "\n")


if __name__ == "__main__":
    main()
