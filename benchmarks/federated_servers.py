"""Both servers of a federation as processes of their own, with SQLite stores in a folder."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

MAIN = "from tacit.cli.main import main; main()"


class Servers:
    """Both servers, started for one measurement."""

    def __init__(self, folder: Path, items: list[str], options: list[str]) -> None:
        from tacit.federation.protocol.keys import Identity

        pins = {
            r: Identity(folder / r / "identity.json").public.hex()
            for r in ("recommender", "aggregator")
        }
        ports = {r: _free_port() for r in pins}
        self.url = {r: f"http://127.0.0.1:{p}" for r, p in ports.items()}
        self.watch = {r: _free_port() for r in pins}
        """Ports of their metrics."""
        (folder / "items.csv").write_text("item\n" + "\n".join(items) + "\n")
        common = {
            r: [
                "--port",
                str(ports[r]),
                "--watch-port",
                str(self.watch[r]),
                "--home",
                str(folder / r),
                "--rate",
                "100000",
            ]
            for r in pins
        }
        book = str(folder / "book")  # nothing is charged without noise
        commands = {
            "aggregator": [*common["aggregator"], "--recommender-pin", pins["recommender"]],
            "recommender": [
                *common["recommender"],
                "--items",
                str(folder / "items.csv"),
                "--scale",
                "1,5",
                "--aggregator",
                self.url["aggregator"],
                "--aggregator-pin",
                pins["aggregator"],
                "--out",
                str(folder / "model"),
                *([] if "none" in options else ["--ledger", book]),
                *options,
            ],
        }
        self.pins, self.folder = pins, folder
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-c", MAIN, "federate", role, *c],
                env=environment,
                stderr=subprocess.DEVNULL,
            )
            for role, c in commands.items()
        ]
        for role in commands:
            self._wait(role)
        self._used = self._seconds()

    def cpu(self) -> dict[str, float]:
        """Seconds of processor time that each server has used since it was ready."""
        return {
            role: now - before
            for (role, before), now in zip(
                self._used.items(), self._seconds().values(), strict=True
            )
        }

    def _seconds(self) -> dict[str, float]:
        tick, found = os.sysconf("SC_CLK_TCK"), {}
        for role, process in zip(self.url, reversed(self.processes), strict=True):
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            found[role] = (int(fields[11]) + int(fields[12])) / tick
        return found

    def _wait(self, role: str) -> None:
        for _ in range(600):
            try:
                if self.get(role, "/healthz"):
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"the {role} did not start")

    def get(self, role: str, path: str) -> Any:
        url = self.url[role]
        if path == "/metrics":
            url = f"http://127.0.0.1:{self.watch[role]}"
        with urllib.request.urlopen(url + path, timeout=30) as answer:
            text = answer.read()
        return text.decode() if path == "/metrics" else json.loads(text)

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])
