"""Processes that spend from one ledger, wherever it is kept: for attacks on a book by a
crowd, or by a kill."""

from __future__ import annotations

import subprocess
import sys

SPEND = """
import sys
from tacit.errors import BudgetError, StorageError
from tacit.ledger.book.book import open_book
from tacit.ledger.account.event import Laplace
place, each, wanted = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
book, event = open_book(place), Laplace(name="x", sensitivity=1, scale=1 / each, draws=1)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(wanted):
    try:
        receipt = book.reserve([event], unit="user", budget=None, purpose="", method="bias")
    except BudgetError:
        break
    except StorageError:
        print("away", flush=True)
        continue
    print(receipt.number, flush=True)
"""


def spender(address: object, epsilon: float, count: int) -> subprocess.Popen[str]:
    """One that waits for `start` and then reserves `count` times epsilon `epsilon`, printing
    each receipt."""
    command = [sys.executable, "-c", SPEND, str(address), str(epsilon), str(count)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def start(process: subprocess.Popen[str]) -> None:
    """Let a spender begin, once it is ready."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()
