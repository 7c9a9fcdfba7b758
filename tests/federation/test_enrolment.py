"""Each server enrols on its own terms, from its own book: tickets, limits, bans, and the
operator's own check. Two gates in this process, asked as over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import pytest
from click.testing import CliRunner

from tacit.cli.federate import federate
from tacit.federation.device.client import Conversation, KnownServer, Papers, TurnedDown
from tacit.federation.protocol.http import Answer
from tacit.federation.protocol.keys import Identity, enrolment_of, name_of, new_exchange, public_of
from tacit.federation.server import book, recommender, uploads
from tacit.federation.server.enrolment import MOST_EVIDENCE, Attest, Terms
from tacit.federation.server.gate import Gate
from tacit.federation.server.store import ServerStore
from tacit.serving.http.limits import Limits

STEPS = {"recommender": recommender.MIGRATIONS, "aggregator": uploads.MIGRATIONS}
YES = f"{sys.executable} -c 'import sys; sys.exit(0)'"
NO = f"{sys.executable} -c 'import sys; sys.exit(1)'"


class Wire:
    """Asks the gates of this process."""

    def __init__(self, apps) -> None:
        self.apps = apps

    async def get(self, url, path, *limits):
        return await self._ask("GET", url, path, b"", {})

    async def post(self, url, path, body, headers, *limits):
        return await self._ask("POST", url, path, body, headers)

    async def _ask(self, method, url, path, body, headers) -> Answer:
        told = []
        sent = headers | {"content-length": str(len(body))}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(k.encode(), v.encode()) for k, v in sent.items()],
            "query_string": b"",
        }

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            told.append(message)

        await self.apps[url](scope, receive, send)
        found = {k.decode(): v.decode() for k, v in told[0]["headers"]}
        return Answer(told[0]["status"], found, told[1]["body"])


class Both:
    """The gates of both servers, with a route that any enrolled device may call."""

    def __init__(self, folder, limits=None, **terms) -> None:
        self.folder = folder
        self.stores, self.apps, self.gates = {}, {}, {}
        for role, steps in STEPS.items():
            home = folder / role
            identity = Identity(home / "identity.json")
            store = ServerStore(home / f"{role}.sqlite", steps, role)
            own = terms.get(role, Terms())
            gate = Gate(role, identity, store, limits or Limits(), own)

            async def hello(request, gate=gate):
                _, caller = await gate.receive(request)
                return gate.reply(caller, b"hello")

            self.gates[role], self.stores[role] = gate, store
            self.apps[role] = gate.app()
            gate.route("/v1/hello", hello)
        self.wire = Wire(self.apps)

    def link(self, private: bytes | None = None) -> Conversation:
        servers = [KnownServer(role) for role in STEPS]

        async def learn() -> None:
            for each in servers:
                await each.learn(self.wire)

        asyncio.run(learn())
        return Conversation(self.wire, *servers, private or new_exchange()[0])

    def tickets(self, role: str, count: int = 1, days: float = 1) -> list[str]:
        made = book.new_tickets(count)
        self.stores[role].write_blocking(lambda s: book.keep_tickets(s, made, "shop", days))
        return made


def refused(work) -> str:
    """Why a request is turned down; empty if it is not."""
    try:
        asyncio.run(work)
    except TurnedDown as error:
        return error.reason or "refused"
    return ""


@pytest.fixture
def both(tmp_path):
    made = []

    def begin(**terms) -> Both:
        made.append(Both(tmp_path, **terms))
        return made[-1]

    yield begin
    for each in made:
        for store in each.stores.values():
            store.close()


TICKETS = {"recommender": Terms(tickets=True), "aggregator": Terms(tickets=True)}


def papers(servers: Both) -> Papers:
    return Papers(
        ticket=servers.tickets("recommender")[0], aggregator_ticket=servers.tickets("aggregator")[0]
    )


def test_a_ticket_of_each_server_enrols_one_device_once(both) -> None:
    servers = both(**TICKETS)
    shown = papers(servers)
    one, other = servers.link(), servers.link()
    assert not refused(one.enrol(shown))
    assert not refused(one.enrol(shown))  # its first answer may have been lost
    assert not refused(one.enrol())  # known by now: it needs no ticket again
    assert refused(other.enrol(shown)) == "the ticket was used"
    assert servers.stores["aggregator"].write_blocking(book.labels)[0].used == 1


@pytest.mark.parametrize("role", list(STEPS))
def test_whoever_runs_one_server_invents_no_device_at_the_other(both, role) -> None:
    """Break 4: one token, the same at both servers, limited nobody."""
    servers = both(**TICKETS)
    mine = servers.tickets(role)[0]
    shown = Papers(ticket=mine, aggregator_ticket=mine)
    assert "ticket" in refused(servers.link().enrol(shown))


def test_a_thousand_inventions_with_one_ticket_are_one_device(both) -> None:
    servers = both(**TICKETS)
    shown = papers(servers)
    found = [not refused(servers.link().enrol(shown)) for _ in range(20)]
    assert found == [True, *[False] * 19]


@pytest.mark.parametrize("shown", [None, "00" * 16, "x" * 201, "é"])
def test_an_invented_ticket_enrols_nobody(both, shown) -> None:
    servers = both(**TICKETS)
    link = servers.link()
    assert "ticket" in refused(link.enrol(Papers(ticket=shown)))
    assert link.name not in servers.gates["recommender"].publics


def test_a_ticket_expires_and_can_be_taken_back(both) -> None:
    servers = both(recommender=Terms(tickets=True))
    old = servers.tickets("recommender", days=-1)[0]
    assert "expired" in refused(servers.link().enrol(Papers(ticket=old)))
    new = servers.tickets("recommender")[0]
    store = servers.stores["recommender"]
    assert store.write_blocking(lambda s: book.revoke(s, "shop")) == 2
    assert "needed" in refused(servers.link().enrol(Papers(ticket=new)))


def test_one_who_hands_out_tickets_enrols_no_more_than_the_operator_allows(both) -> None:
    servers = both(recommender=Terms(tickets=True))
    store = servers.stores["recommender"]
    store.write_blocking(lambda s: book.limit_label(s, "shop", 2))
    given = servers.tickets("recommender", 4)
    found = [refused(servers.link().enrol(Papers(ticket=t))) for t in given]
    assert [bool(each) for each in found] == [False, False, True, True]
    assert "no more devices" in found[-1]


def test_the_store_does_not_hold_a_ticket(both) -> None:
    servers = both(**TICKETS)
    made = servers.tickets("recommender", 3)
    store = servers.stores["recommender"]
    kept = str(store.write_blocking(lambda s: s.run("SELECT * FROM ticket")))
    assert not any(each in kept for each in made)


def test_a_banned_device_is_served_no_more_and_cannot_enrol_again(both) -> None:
    servers = both()
    private = new_exchange()[0]
    link = servers.link(private)
    asyncio.run(link.enrol())
    assert not refused(link.call(link.aggregator, "/v1/hello", b"x"))
    device = [name_of(public_of(private))]
    servers.stores["aggregator"].write_blocking(lambda s: book.ban(s, device))
    servers.gates["aggregator"]._look_again = 0.0  # the second has passed
    assert "banned" in refused(link.call(link.aggregator, "/v1/hello", b"x"))
    assert "banned" in refused(link.enrol())
    assert not refused(link.call(link.recommender, "/v1/hello", b"x"))
    servers.stores["aggregator"].write_blocking(lambda s: book.unban(s, device))
    servers.gates["aggregator"]._look_again = 0.0
    assert not refused(link.enrol())


@pytest.mark.parametrize(("command", "admits"), [(YES, True), (NO, False)])
def test_the_operators_own_check_admits_or_not(both, command, admits) -> None:
    servers = both(recommender=Terms(attest=Attest(command)))
    assert refused(servers.link().enrol()) == (
        "" if admits else "the operator's check did not admit this device"
    )


def test_the_operators_check_sees_evidence_and_a_refusal_uses_no_ticket(both, tmp_path) -> None:
    script = tmp_path / "check.py"
    script.write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        "assert set(asked) == {'role', 'device', 'public', 'evidence'}\n"
        "sys.exit(asked['evidence'] != 'a real phone')\n"
    )
    check = Attest(f"{sys.executable} {script}")
    servers = both(recommender=Terms(tickets=True, attest=check))
    ticket = servers.tickets("recommender")[0]
    link = servers.link()
    assert refused(link.enrol(Papers(ticket=ticket, evidence="a mill")))
    assert not refused(link.enrol(Papers(ticket=ticket, evidence="a real phone")))
    long = Papers(evidence="x" * (MOST_EVIDENCE + 1))
    assert "too long" in refused(servers.link().enrol(long))


def test_a_check_that_is_silent_or_missing_admits_nobody(both) -> None:
    sleeps = f"{sys.executable} -c 'import time; time.sleep(9)'"
    servers = both(recommender=Terms(attest=Attest(sleeps, seconds=0.2)))
    began = time.monotonic()
    assert "did not admit" in refused(servers.link().enrol())
    assert time.monotonic() - began < 5
    with pytest.raises(Exception, match="503"):
        asyncio.run(_missing(both).enrol())


def _missing(both) -> Conversation:
    servers = both(recommender=Terms(attest=Attest("/no/such/program")))
    return servers.link()


def test_a_server_takes_no_more_devices_than_its_operator_allows(both) -> None:
    from tacit.federation.device.client import Away

    servers = both(limits=Limits(devices=2))
    for _ in range(2):
        asyncio.run(servers.link().enrol())
    with pytest.raises(Away, match="503"):
        asyncio.run(servers.link().enrol())


def test_every_server_says_on_what_terms_it_enrols_under_its_signature(both) -> None:
    servers = both(recommender=Terms(token="t"), aggregator=Terms(tickets=True))
    for role, word in (("recommender", "token"), ("aggregator", "tickets")):
        identity = servers.gates[role].identity
        card = json.loads(asyncio.run(servers.wire.get(role, "/v1/keys")).body)
        assert enrolment_of(card, identity.public) == word
        assert enrolment_of(card | {"enrolment": "open"}, identity.public) == ""


def test_tickets_are_made_on_the_command_line_for_a_server_that_runs(both, tmp_path) -> None:
    servers = both(**TICKETS)
    out = tmp_path / "tickets"
    asked = ["ticket", "--server", "recommender"]
    asked += ["--home", str(tmp_path / "recommender")]
    made_for = ["--label", "phones", "--count", "3", "--most", "2"]
    done = CliRunner().invoke(federate, [*asked, *made_for, "--out", str(out)])
    assert done.exit_code == 0, done.output
    made = out.read_text().split()
    assert len(made) == 3
    assert out.stat().st_mode & 0o777 == 0o600
    assert "phones: 3 tickets, 0 used, 0 expired, at most 2" in done.output
    assert not any(each in done.output for each in made)
    ticket = servers.tickets("aggregator")[0]
    shown = Papers(ticket=made[0], aggregator_ticket=ticket)
    assert not refused(servers.link().enrol(shown))
    told = CliRunner().invoke(federate, [*asked, "--json"])
    assert json.loads(told.output)["labels"][0]["used"] == 1
