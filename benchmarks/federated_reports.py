"""Small uploads, each authenticated and durable: how many a second."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from federated_servers import Servers

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
        server = KnownServer(servers.url["aggregator"], servers.pins["aggregator"])
        await server.learn(web)
        links = [Conversation(web, server, server, new_exchange()[0]) for _ in range(devices)]
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

    from tacit.federation.protocol.keys import Identity, head_tag, shared_secrets, tag, ticket
    from tacit.federation.protocol.wire import Opening, PartLayout, Upload, layouts_print, pack
    from tacit.federation.server.aggregator import MIGRATIONS
    from tacit.federation.server.store import ServerStore

    task, rounds_ = "00" * 16, range(1 if new else 10)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        signer = Identity(folder / "recommender" / "identity.json")
        summer = Identity(folder / "aggregator" / "identity.json")
        store = ServerStore(folder / "aggregator" / "aggregator.sqlite", MIGRATIONS, "aggregator")
        layout = PartLayout(name="bit", size=3000, width=1, bits=32, sparse=True)
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
            store.write_blocking(lambda s, r=round_, o=opening, sql=sql: s.run(sql, task, r, o))
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
                    mac = shared_secrets(link.private, link.aggregator.keys[current]).mac
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
                                "tacit-head": head_tag(mac, "POST", path, len(body)),
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
            stored = next((int(float(x.split()[1])) for x in lines if "uploads_total" in x), 0)
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
        " ".join((body.hex(), *(h[f"tacit-{name}"] for name in NAMES))) for body, h in reports
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
