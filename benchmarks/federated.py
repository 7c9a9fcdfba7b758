"""1,000 devices, two servers, one machine: seconds and bytes of a round; one-bit reports a second.

    python benchmarks/federated.py rounds            # Hua et al.'s S3 over HTTP: d 50, up to 20 items a device
    python benchmarks/federated.py sound             # 100 devices x 1,682 items x 8 factors, Skellam shares
    python benchmarks/federated.py reports           # small uploads, each its own authenticated, durable request

Both servers are processes of their own with SQLite stores in a temporary folder; the fleet is this process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.ratings import Ratings
from tacit.data.schema import Schema

MAIN = "from tacit.cli.main import main; main()"


def synthetic(people: int, items: int, each: int, seed: int = 1) -> Ratings:
    """People with exactly `each` rated items, popular ones more often."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(1, items + 1) ** 0.5
    rows = [np.sort(rng.choice(items, each, replace=False, p=weight / weight.sum())) for _ in range(people)]
    value = rng.integers(1, 6, people * each).astype(np.float32)
    ptr = np.arange(people + 1, dtype=np.int64) * each
    names = [f"i{k}" for k in range(items)]
    return Ratings(
        Schema(1, 5), [f"u{k}" for k in range(people)], names, ptr, np.concatenate(rows).astype(np.uint32), value
    )


class Servers:
    """Both servers, started for one measurement."""

    def __init__(self, folder: Path, items: list[str], options: list[str]) -> None:
        from tacit.engine.federated.keys import Identity

        pins = {r: Identity(folder / r / "identity.json").public.hex() for r in ("recommender", "aggregator")}
        ports = {r: _free_port() for r in pins}
        self.url = {r: f"http://127.0.0.1:{p}" for r, p in ports.items()}
        (folder / "items.csv").write_text("item\n" + "\n".join(items) + "\n")
        common = {r: ["--port", str(ports[r]), "--home", str(folder / r), "--rate", "100000"] for r in pins}
        commands = {
            "aggregator": [*common["aggregator"], "--recommender-pin", pins["recommender"]],
            "recommender": [
                *common["recommender"], "--items", str(folder / "items.csv"), "--scale", "1,5",
                "--aggregator", self.url["aggregator"], "--aggregator-pin", pins["aggregator"],
                "--out", str(folder / "model"), "--ledger", str(folder / "book"), *options,
            ],
        }  # fmt: skip
        self.pins, self.folder = pins, folder
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-c", MAIN, "federate", role, *c], env=environment, stderr=subprocess.DEVNULL
            )
            for role, c in commands.items()
        ]  # fmt: skip
        for role in commands:
            self._wait(role)

    def _wait(self, role: str) -> None:
        for _ in range(600):
            try:
                if self.get(role, "/healthz"):
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"the {role} did not start")

    def get(self, role: str, path: str) -> Any:
        with urllib.request.urlopen(self.url[role] + path, timeout=30) as answer:
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


def rounds(devices: int, items: int, count: int, options: list[str], title: str, policy: dict[str, Any]) -> None:
    import uvloop

    from tacit.engine.federated.device import Policy
    from tacit.engine.federated.fleet import run_fleet

    ratings = synthetic(devices, items, 20)
    with tempfile.TemporaryDirectory() as name:
        options = [
            "--users",
            str(devices),
            "--cohort",
            str(devices),
            "--least",
            str(devices),
            "--seconds",
            "60",
            *options,
        ]
        servers = Servers(Path(name), list(ratings.items), options)
        try:
            began = time.perf_counter()
            fleet = run_fleet(
                servers.url["recommender"], ratings, pin=servers.pins["recommender"],
                policy=Policy(accept_unbounded=True, **policy),
            )  # fmt: skip
            report = uvloop.run(fleet)
            whole = time.perf_counter() - began
            seconds = servers.get("recommender", "/v1/status")["seconds"]
            metrics = servers.get("aggregator", "/metrics")
        finally:
            servers.stop()
    sent = next(float(x.split()[1]) for x in metrics.splitlines() if "bytes_to_recommender" in x)
    answers = max(1, report.answered)
    print(f"{title}: {len(seconds)} rounds, {report.answered:,} answers, {len(report.failed)} failed, {whole:.1f} s")
    print(f"  seconds a round: median of the last {count} {statistics.median(seconds[-count:]):.3f}, "
          f"best {min(seconds):.3f}, worst {max(seconds[1:]):.3f}")  # fmt: skip
    print(f"  bytes a device and round: {report.bytes_down / answers:,.0f} down, {report.bytes_up / answers:,.0f} up "
          f"(enrolment included); aggregator to recommender {sent / len(seconds):,.0f} a round")  # fmt: skip


async def _flood(url: str, requests: list[tuple[bytes, dict[str, str]]], lanes: int) -> float:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=lanes)
    async with aiohttp.ClientSession(connector=connector) as web:
        began, left = time.perf_counter(), iter(requests)

        async def lane() -> None:
            for body, headers in left:
                async with web.post(url, data=body, headers=headers) as answer:
                    await answer.read()
                    if answer.status != 200:
                        raise SystemExit(f"status {answer.status}")

        await asyncio.gather(*(lane() for _ in range(lanes)))
        return time.perf_counter() - began


def reports(count: int, lanes: int, wrk: bool) -> None:
    """Prepared uploads of one small number, each by its own device, to the aggregator."""
    import uvloop

    from tacit.engine.federated.keys import Identity, name_of, new_exchange, secrets, tag
    from tacit.engine.federated.store import Store
    from tacit.engine.federated.wire import Layout, Opening, Upload, pack
    from tacit.service.aggregator import MIGRATIONS

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "aggregator"
        identity = Identity(home / "identity.json")
        (server_private,) = identity.exchange
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        server = X25519PrivateKey.from_private_bytes(server_private).public_key().public_bytes_raw()
        task, requests, devices = "00" * 16, [], []
        upload = pack(Upload(task=task, round=0, attempt=0, least=2, rows=(1,)), bytes(4) + b"\x01\x00\x00\x00")
        for _ in range(count):
            private, public = new_exchange()
            device, mac = name_of(public), secrets(private, server).mac
            headers = {"tacit-device": device, "tacit-key": identity.current,
                       "tacit-mac": tag(mac, b"request", b"POST", b"/v1/upload", upload)}  # fmt: skip
            devices.append((device, public))
            requests.append((upload, headers))
        store = Store(home / "aggregator.sqlite", MIGRATIONS, "aggregator")
        opening = Opening(task=task, round=0, attempt=0, least=2,
                          parts=(Layout(name="bit", size=3000, width=1, bits=32, sparse=True),))  # fmt: skip
        store.now(lambda s: [s.run("INSERT INTO device VALUES (?, ?, 0)", d, p) for d, p in devices])
        store.now(lambda s: s.run("INSERT INTO round VALUES (?, 0, 0, ?, 2, 'open', NULL)", task, pack(opening)))
        store.close()
        servers = Servers(folder, ["a"], ["--method", "popularity", "--calibration", "none", "--users", "2",
                                          "--cohort", "2", "--least", "2"])  # fmt: skip
        try:
            url = servers.url["aggregator"] + "/v1/upload"
            if wrk:
                print(_wrk(folder, url, requests))
            else:
                seconds = uvloop.run(_flood(url, requests, lanes))
                print(
                    f"one-bit reports from a fleet: {count / seconds:,.0f} a second ({count:,} devices, {lanes} lanes)"
                )
            print("  stored:", [x for x in servers.get("aggregator", "/metrics").splitlines() if "uploads" in x])
        finally:
            servers.stop()


def _wrk(folder: Path, url: str, requests: list[tuple[bytes, dict[str, str]]]) -> str:
    """wrk with prepared requests: thread t of 2 takes every second one, so none is sent twice."""
    lines = "\n".join(f"{h['tacit-device']} {h['tacit-key']} {h['tacit-mac']}" for _, h in requests)
    (folder / "requests.txt").write_text(lines)
    (folder / "body.bin").write_bytes(requests[0][0])
    (folder / "reports.lua").write_text(f"""
local counter = 0
function setup(thread) thread:set("id", counter); counter = counter + 1 end
function init(args)
  local f = io.open("{folder}/body.bin", "rb"); body = f:read("*a"); f:close()
  all = {{}}; local n = 0
  for line in io.lines("{folder}/requests.txt") do
    if n % 2 == id then all[#all + 1] = line end
    n = n + 1
  end
  at = 0
end
function request()
  at = at + 1
  if at > #all then wrk.thread:stop(); at = 1 end
  local d, k, m = string.match(all[at], "(%S+) (%S+) (%S+)")
  return wrk.format("POST", nil, {{["tacit-device"] = d, ["tacit-key"] = k, ["tacit-mac"] = m}}, body)
end
""")
    done = subprocess.run(
        ["wrk", "-t2", "-c128", "-d8s", "-s", str(folder / "reports.lua"), url],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["rounds", "sound", "reports"])
    parser.add_argument("--devices", type=int)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--wrk", action="store_true", help="drive reports with wrk instead of a fleet")
    o = parser.parse_args()
    if o.what == "rounds":
        options = ["--method", "mf-federated", "--calibration", "paper", "--unit", "value", "--epsilon", "0.8",
                   "--set", "scheme=S3", "--set", f"rounds={o.rounds + 2}",
                   "--set", f"cohort={o.devices or 1000}"]  # fmt: skip
        rounds(o.devices or 1000, 10_000, o.rounds, options, "S3 over HTTP, d 50", {})
    elif o.what == "sound":
        options = ["--method", "mf-federated", "--calibration", "sound", "--epsilon", "1000", "--delta", "1e-3",
                   "--set", "factors=8", "--set", f"rounds={o.rounds}"]  # fmt: skip
        policy = {"epsilon": 1e6, "delta": 1e-3}
        rounds(o.devices or 100, 1682, max(1, o.rounds - 2), options, "sound over HTTP, 1,682 items x 8", policy)
    else:
        reports(o.devices or 30_000, 64, o.wrk)


if __name__ == "__main__":
    main()
