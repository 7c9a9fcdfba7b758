"""The gate of a real server: what strangers send, how much, how often."""

from __future__ import annotations

import asyncio
import http.client
import json
import random

import pytest

from tacit.data.sample import sample
from tacit.federation.device.client import Away, Conversation, KnownServer, Papers, TurnedDown
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import Identity, head_tag, new_exchange, shared_secrets, ticket
from tacit.federation.protocol.wire import Opening, PartLayout, Upload, layouts_print, pack

LAYOUT = PartLayout(name="x", size=4, width=2, bits=32)
TASK = "ab" * 16


@pytest.fixture
def f(federation):
    options = ["--rate", "5", "--body-limit", "1", "--token", "open sesame"]
    found = federation(sample(people=2, ratings=10, seed=1), aggregator=options)
    found.start("aggregator")
    identity = Identity(found.home["recommender"] / "identity.json")
    body = pack(opening(identity, 0, LAYOUT))
    assert (
        send(
            found, "/v1/open", body, {"tacit-signature": identity.sign(b"POST", b"/v1/open", body)}
        )
        == 200
    )
    return found


def opening(identity: Identity, number: int, layout: PartLayout) -> Opening:
    return Opening(
        task=TASK, round=number, attempt=0, parts=(layout,), least=2, tickets=identity.tickets.hex()
    )


def send(f, path: str, body, headers=None, **more) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", f.port["aggregator"], timeout=60)
    try:
        connection.request("POST", path, body, headers or {}, **more)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):  # it hung up while we were still talking
        return 413
    finally:
        connection.close()


def test_what_strangers_send_is_refused_and_leaves_no_trace(f) -> None:
    """Long without saying so, garbage, and true frames with garbage inside: short refusals,
    no words in the logs."""
    megabytes = (b"secret words " * 80_000 for _ in range(40))
    assert send(f, "/v1/upload", megabytes, encode_chunked=True) == 413
    identity, chance = (Identity(f.home["recommender"] / "identity.json"), random.Random(3))
    good = pack(opening(identity, 1, LAYOUT))
    for _ in range(60):
        body = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        signed = {"tacit-signature": identity.sign(b"POST", b"/v1/open", bytes(body))}
        assert send(f, "/v1/open", bytes(body), signed) in (200, 400, 403, 409, 426)
        assert send(f, "/v1/upload", bytes(body), {"tacit-device": "x\xe9"}) == 401
    for path in ("/v1/enrol", "/v1/rotate"):
        assert send(f, path, b'{"public": 7}') in (400, 401)
    lines = f.log("aggregator").splitlines()
    assert all(json.loads(line)["level"] == "info" for line in lines)
    assert "secret" not in f.log("aggregator") + f.get("aggregator", "/metrics")


def test_words_that_were_meant_to_be_summed_are_never_listed(f) -> None:
    """A recommender that opens a round of reports of the same length would see each
    device's words by themselves."""
    identity = Identity(f.home["recommender"] / "identity.json")
    listed = PartLayout(name="x", size=1, width=8, bits=32, report=True)
    body = pack(opening(identity, 1, listed))
    assert (
        send(f, "/v1/open", body, {"tacit-signature": identity.sign(b"POST", b"/v1/open", body)})
        == 200
    )

    async def run() -> int:
        async with Web() as web:
            server = KnownServer(f.url["aggregator"], f.pin["aggregator"])
            await server.learn(web)
            link = Conversation(web, server, server, new_exchange()[0])
            await link.enrol(Papers(token="open sesame"))
            honest = Upload(
                task=TASK, round=1, attempt=0, least=2, layouts=layouts_print((LAYOUT,))
            )
            with pytest.raises(TurnedDown) as refused:
                await link.call(server, "/v1/upload", pack(honest, bytes(32)))
            return refused.value.status

    assert asyncio.run(run()) == 403


def test_a_device_needs_the_token_once_and_may_not_ask_too_often(f) -> None:
    sides = [Identity(f.home[role] / "identity.json") for role in ("recommender", "aggregator")]
    key = sides[0].ticket_key(sides[1].tickets)
    assert key == sides[1].ticket_key(sides[0].tickets)

    async def run() -> tuple[int, int]:
        async with Web() as web:
            server = KnownServer(f.url["aggregator"], f.pin["aggregator"])
            await server.learn(web)
            link = Conversation(web, server, server, new_exchange()[0])
            with pytest.raises(TurnedDown) as refused:
                await link.enrol(Papers(token="guess"))
            await link.enrol(Papers(token="open sesame"))
            body = pack(
                Upload(
                    task=TASK,
                    round=0,
                    attempt=0,
                    least=2,
                    layouts=layouts_print((LAYOUT,)),
                    ticket=ticket(key, TASK, 0, 0, link.name),
                ),
                bytes(32),
            )

            async def once() -> bool:
                try:
                    await link.call(server, "/v1/upload", body)
                except Away:
                    return False
                return True

            # at once: one after another they may be as slow as is allowed
            found = await asyncio.gather(*(once() for _ in range(60)))
            assert refused.value.status == 403
            return sum(found), found.count(False)

    counted, slowed = asyncio.run(run())
    assert counted >= 10  # a burst of twice the rate
    assert slowed > 0
    assert 'status="429"' in f.get("aggregator", "/metrics")


def test_a_body_is_not_read_before_its_sender_and_length_are_known(f) -> None:
    """Only the header is sent, or the first bytes: the answer comes all the same."""
    long = 1 << 20
    identity = Identity(f.home["aggregator"] / "identity.json")
    name = identity.current

    def status(headers: dict[str, str], start: bytes = b"") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", f.port["aggregator"], timeout=60)
        connection.putrequest("POST", "/v1/upload")
        for key, value in headers.items():
            connection.putheader(key, value)
        connection.endheaders()
        connection.send(start)
        found = connection.getresponse().status
        connection.close()
        return found

    said = {"Content-Length": str(long), "tacit-key": name}
    assert status(said | {"tacit-device": "ab" * 16}) == 401

    async def enrolled() -> tuple[str, bytes]:
        async with Web() as web:
            server = KnownServer(f.url["aggregator"], f.pin["aggregator"])
            await server.learn(web)
            link = Conversation(web, server, server, new_exchange()[0])
            await link.enrol(Papers(token="open sesame"))
            mac = shared_secrets(link.private, server.keys[name]).mac
            return link.name, mac

    device, mac = asyncio.run(enrolled())
    said |= {"tacit-device": device}
    assert status(said | {"tacit-head": "ab" * 32}) == 401
    said |= {"tacit-head": head_tag(mac, "POST", "/v1/upload", long)}
    upload = Upload(task=TASK, round=0, attempt=0, least=2, layouts=layouts_print((LAYOUT,)))
    assert status(said, pack(upload, bytes(4096))) == 400
