"""1,000 devices, two servers, one machine: seconds and bytes of a round; one-bit reports a second.

    python benchmarks/federated.py rounds     # S3 of Hua et al., d 50, 20 items a device
    python benchmarks/federated.py sound      # 100 devices x 1,682 items x 8 factors
    python benchmarks/federated.py reports    # small uploads, each authenticated and durable

Both servers are processes of their own with SQLite stores in a temporary folder; the fleet
is this process.
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
    rows = [
        np.sort(rng.choice(items, each, replace=False, p=weight / weight.sum()))
        for _ in range(people)
    ]
    value = rng.integers(1, 6, people * each).astype(np.float32)
    ptr = np.arange(people + 1, dtype=np.int64) * each
    names = [f"i{k}" for k in range(items)]
    return Ratings(
        Schema(1, 5),
        [f"u{k}" for k in range(people)],
        names,
        ptr,
        np.concatenate(rows).astype(np.uint32),
        value,
    )


class Servers:
    """Both servers, started for one measurement."""

    def __init__(
        self, folder: Path, items: list[str], options: list[str]
    ) -> None:
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
        commands = {
            "aggregator": [
                *common["aggregator"],
                "--recommender-pin",
                pins["recommender"],
            ],
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
                "--ledger",
                str(folder / "book"),
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
        for role, process in zip(
            self.url, reversed(self.processes), strict=True
        ):
            fields = (
                Path(f"/proc/{process.pid}/stat")
                .read_text()
                .rpartition(")")[2]
                .split()
            )
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


def rounds(
    devices: int,
    items: int,
    count: int,
    options: list[str],
    title: str,
    policy: dict[str, Any],
) -> None:
    import uvloop

    from tacit.federation.device.fleet import run_fleet
    from tacit.federation.device.policy import Policy
    from tacit.federation.protocol.lasting import leave_what_is_loaded

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
            leave_what_is_loaded()
            began, used = time.perf_counter(), time.process_time()
            fleet = run_fleet(
                servers.url["recommender"],
                ratings,
                pin=servers.pins["recommender"],
                policy=Policy(accept_unbounded=True, **policy),
            )
            report = uvloop.run(fleet)
            whole = time.perf_counter() - began
            cpu = {"fleet": time.process_time() - used, **servers.cpu()}
            seconds = servers.get("recommender", "/v1/status")["seconds"]
            metrics = servers.get("aggregator", "/metrics")
            phases = _phases(servers.get("recommender", "/metrics"))
        finally:
            servers.stop()
    sent = next(
        float(x.split()[1])
        for x in metrics.splitlines()
        if "bytes_to_recommender" in x
    )
    answers = max(1, report.answered)
    print(
        f"{title}: {len(seconds)} rounds, {report.answered:,} answers, "
        f"{len(report.failed)} failed, {whole:.1f} s"
    )
    print(
        f"  seconds a round: median of the last {count} {statistics.median(seconds[-count:]):.3f}, "
        f"best {min(seconds):.3f}, worst {max(seconds[1:]):.3f}, the first {seconds[0]:.3f}"
    )
    print(f"  the recommender's phases, mean seconds: {phases}")
    each = ", ".join(
        f"{who} {used / len(seconds):.2f}" for who, used in cpu.items()
    )
    print(
        f"  CPU seconds a round, enrolment and the rest included: {each}, all "
        f"{sum(cpu.values()) / len(seconds):.2f}"
    )
    print(
        f"  bytes a device and round: {report.bytes_down / answers:,.0f} down, "
        f"{report.bytes_up / answers:,.0f} up "
        f"(enrolment included); aggregator to recommender {sent / len(seconds):,.0f} a round"
    )


def _phases(metrics: str) -> str:
    """What each phase of a round took on average."""
    found = dict[str, dict[str, float]]()
    for line in metrics.splitlines():
        if "phase_seconds_" not in line or "_bucket" in line:
            continue
        name, value = line.split()
        kind = "sum" if "_sum" in name else "count"
        phase = name.partition('phase="')[2].partition('"')[0]
        found.setdefault(phase, {})[kind] = float(value)
    return ", ".join(
        f"{phase} {each['sum'] / max(1, each['count']):.3f}"
        for phase, each in found.items()
    )


Report = tuple[bytes, dict[str, str]]
"""A report's body, with its device's ticket, and its headers."""


async def _flood(url: str, reports: list[Report], lanes: int) -> float:
    from tacit.federation.protocol.http import Web

    async with Web() as web:
        began, left = time.perf_counter(), iter(reports)

        async def lane() -> None:
            for body, headers in left:
                answer = await web.post(url, "/v1/upload", body, headers)
                if answer.status != 200:
                    raise SystemExit(f"status {answer.status}")

        await asyncio.gather(*(lane() for _ in range(lanes)))
        return time.perf_counter() - began


async def _enrolled(servers: Servers, devices: int) -> list[Any]:
    """Real devices, enrolled at the aggregator over HTTP."""
    from tacit.federation.device.client import Away, Conversation, KnownServer
    from tacit.federation.protocol.http import Web
    from tacit.federation.protocol.keys import new_exchange

    async with Web() as web:
        server = KnownServer(
            servers.url["aggregator"], servers.pins["aggregator"]
        )
        await server.learn(web)
        links = [
            Conversation(web, server, server, new_exchange()[0])
            for _ in range(devices)
        ]
        left = iter(links)

        async def lane() -> None:
            for link in left:
                body = json.dumps({"public": link.public.hex()}).encode()
                while True:
                    try:
                        await link.call(server, "/v1/enrol", body)
                        break
                    except Away:  # the rate of enrolments is limited
                        await asyncio.sleep(0.2)

        await asyncio.gather(*(lane() for _ in range(64)))
        return links


def reports(count: int, lanes: int, wrk: bool, new: bool) -> None:
    """`count` uploads of one small number to ten open rounds; every device has its own key
    and answers each once.

    With `new` there is one round, and the aggregator is restarted after the devices
    enrolled: it has seen none of them.
    """
    import uvloop

    from tacit.federation.protocol.keys import (
        Identity,
        head_tag,
        shared_secrets,
        tag,
    )
    from tacit.federation.protocol.tickets import ticket
    from tacit.federation.protocol.wire import (
        Opening,
        PartLayout,
        Upload,
        layouts_print,
        pack,
    )
    from tacit.federation.server.aggregator import MIGRATIONS
    from tacit.federation.server.store import ServerStore

    task, rounds_ = "00" * 16, range(1 if new else 10)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        signer = Identity(folder / "recommender" / "identity.json")
        summer = Identity(folder / "aggregator" / "identity.json")
        store = ServerStore(
            folder / "aggregator" / "aggregator.sqlite",
            MIGRATIONS,
            "aggregator",
        )
        layout = PartLayout(
            name="bit", size=3000, width=1, bits=32, sparse=True
        )
        for round_ in rounds_:
            opening = pack(
                Opening(
                    task=task,
                    round=round_,
                    attempt=0,
                    least=2,
                    parts=(layout,),
                    tickets=signer.tickets.hex(),
                )
            )
            sql = "INSERT INTO round VALUES (?, ?, 0, ?, 2, 'open', NULL)"
            store.now(
                lambda s, r=round_, o=opening, sql=sql: s.run(sql, task, r, o)
            )
        store.close()
        options = [
            "--method",
            "popularity",
            "--calibration",
            "none",
            "--users",
            "2",
            "--cohort",
            "2",
            "--least",
            "2",
        ]
        servers = Servers(folder, ["a"], options)
        try:
            links = uvloop.run(_enrolled(servers, count // len(rounds_)))
            if new:
                servers.stop()
                servers = Servers(folder, ["a"], options)
            agreed = layouts_print((layout,))
            key = signer.ticket_key(summer.tickets)
            prepared: list[Report] = []
            for round_ in rounds_:
                for link in links:
                    current = link.aggregator.current
                    mac = shared_secrets(
                        link.private, link.aggregator.keys[current]
                    ).mac
                    header = Upload(
                        task=task,
                        round=round_,
                        attempt=0,
                        least=2,
                        rows=(1,),
                        layouts=agreed,
                        ticket=ticket(key, task, round_, 0, link.name),
                    )
                    body = pack(header, bytes(8))
                    path = "/v1/upload"
                    told = tag(mac, b"request", b"POST", path.encode(), body)
                    prepared.append(
                        (
                            body,
                            {
                                "tacit-head": head_tag(
                                    mac, "POST", path, len(body)
                                ),
                                "tacit-device": link.name,
                                "tacit-key": current,
                                "tacit-mac": told,
                            },
                        )
                    )
            url = servers.url["aggregator"]
            used = time.process_time()
            before = servers.cpu()["aggregator"]
            if wrk:
                print(_wrk(folder, url + "/v1/upload", prepared))
            else:
                seconds = uvloop.run(_flood(url, prepared, lanes))
                print(
                    f"one-bit reports from a fleet: {len(prepared) / seconds:,.0f} a second "
                    f"({len(links):,} devices, {lanes} lanes)"
                )
            lines = servers.get("aggregator", "/metrics").splitlines()
            stored = next(
                (
                    int(float(x.split()[1]))
                    for x in lines
                    if "uploads_total" in x
                ),
                0,
            )
            each = (servers.cpu()["aggregator"] - before) / max(1, stored) * 1e6
            print(
                f"  stored {stored:,}; CPU a report: aggregator {each:.0f} us, "
                f"fleet {(time.process_time() - used) / max(1, stored) * 1e6:.0f} us"
            )
        finally:
            servers.stop()


NAMES = ("device", "key", "mac", "head")


def _wrk(folder: Path, url: str, reports: list[Report]) -> str:
    """wrk with prepared requests: thread t of 2 takes every second one, so none is sent twice."""
    lines = "\n".join(
        " ".join((body.hex(), *(h[f"tacit-{name}"] for name in NAMES)))
        for body, h in reports
    )
    (folder / "requests.txt").write_text(lines)
    (folder / "reports.lua").write_text(f"""
local counter = 0
function setup(thread) thread:set("id", counter); counter = counter + 1 end
function init(args)
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
  local b, d, k, m, h = string.match(all[at], "(%S+) (%S+) (%S+) (%S+) (%S+)")
  local head = {{["tacit-device"] = d, ["tacit-key"] = k, ["tacit-mac"] = m, ["tacit-head"] = h}}
  local body = b:gsub("..", function(c) return string.char(tonumber(c, 16)) end)
  return wrk.format("POST", nil, head, body)
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
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=["rounds", "sound", "reports"])
    parser.add_argument("--devices", type=int)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--wrk",
        action="store_true",
        help="drive reports with wrk instead of a fleet",
    )
    parser.add_argument(
        "--new",
        action="store_true",
        help="reports of devices that the aggregator has to look up",
    )
    o = parser.parse_args()
    if o.what == "rounds":
        options = [
            "--method",
            "mf-federated",
            "--calibration",
            "paper",
            "--unit",
            "value",
            "--epsilon",
            "0.8",
            "--set",
            "scheme=S3",
            "--set",
            f"rounds={o.rounds + 2}",
            "--set",
            f"cohort={o.devices or 1000}",
        ]
        rounds(
            o.devices or 1000,
            10_000,
            o.rounds,
            options,
            "S3 over HTTP, d 50",
            {},
        )
    elif o.what == "sound":
        options = [
            "--method",
            "mf-federated",
            "--calibration",
            "sound",
            "--epsilon",
            "1000",
            "--delta",
            "1e-4",
            "--set",
            "factors=8",
            "--set",
            f"rounds={o.rounds}",
        ]
        policy = {"epsilon": 1e6, "delta": 1e-4}
        rounds(
            o.devices or 100,
            1682,
            max(1, o.rounds - 2),
            options,
            "sound over HTTP, 1,682 items x 8",
            policy,
        )
    else:
        reports(10 * (o.devices or 4_000), 64, o.wrk, o.new)


if __name__ == "__main__":
    main()
