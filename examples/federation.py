"""A federation on one machine: two servers, forty devices, and nobody who holds the ratings.

Run it in an empty folder: `python examples/federation.py`. In earnest the two servers belong to
two owners, on two machines, behind TLS: docs/operate.md.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import tacit

PEOPLE = 40
TACIT = (sys.executable, "-m", "tacit")
PATIENCE = 60
"""Seconds for a server to come up, and for the model to be there."""


def invent() -> None:
    """Forty people who do not exist; each line of `ratings.csv` stays with its own device."""
    people = tacit.sample(PEOPLE, ratings=1_200, seed=1)
    cells = zip(people.user, people.item, people.value, strict=True)
    lines = [f"{people.users[who]},{people.items[what]},{stars:g}" for who, what, stars in cells]
    Path("ratings.csv").write_text("\n".join(["user,item,rating", *lines]))
    Path("items.csv").write_text("\n".join(["item", *people.items]))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def identity(server: str) -> None:
    """Make a server's keys, and the card by which others know it."""
    card = subprocess.run(
        [*TACIT, "federate", "identity", "--home", server], check=True, capture_output=True
    )
    Path(f"{server}.pin").write_bytes(card.stdout)


def started(stack: ExitStack, *words: str, port: int) -> subprocess.Popen[str]:
    """A server, once it listens; it is ended with the stack."""
    server = subprocess.Popen([*TACIT, "federate", *words], text=True)
    stack.callback(server.wait)
    stack.callback(server.terminate)
    for _ in range(PATIENCE * 5):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return server
        time.sleep(0.2)
    raise TimeoutError(words[0])


def train(stack: ExitStack) -> None:
    """Both servers, then the devices; the recommender writes the model when it has it."""
    aggregator, recommender = free_port(), free_port()
    identity("aggregator")
    identity("recommender")
    started(
        stack,
        *("aggregator", "--port", str(aggregator), "--home", "aggregator"),
        *("--recommender-pin", "recommender.pin", "--least", "20"),
        port=aggregator,
    )
    started(
        stack,
        *("recommender", "--port", str(recommender), "--home", "recommender"),
        *("--aggregator", f"http://127.0.0.1:{aggregator}"),
        *("--aggregator-pin", "aggregator.pin", "--method", "popularity"),
        *("--epsilon", "5", "--delta", "1e-5", "--items", "items.csv"),
        *("--scale", "1,5", "--users", str(PEOPLE), "--cohort", str(PEOPLE)),
        *("--least", "20", "--out", "model", "--ledger", "book.sqlite"),
        port=recommender,
    )
    fleet = ("fleet", "--data", "ratings.csv", "--scale", "1,5")
    address = f"http://127.0.0.1:{recommender}"
    subprocess.run(
        [*TACIT, "federate", *fleet, "--recommender", address], check=True, timeout=PATIENCE
    )
    for _ in range(PATIENCE * 5):
        if Path("model", "statement.json").is_file():
            return
        time.sleep(0.2)
    raise TimeoutError("no model")


def main() -> None:
    """Train, then recommend as a device would: from the public model and own ratings."""
    invent()
    with ExitStack() as stack:
        train(stack)
    model = tacit.load("model")
    print(model.statement)
    print(model.recommend(n=5).frame())


if __name__ == "__main__":
    main()
