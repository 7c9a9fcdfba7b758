"""The files of `deploy/` are what they are meant to be: read by parsers, and their commands by
the command line itself."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from tacit.cli.federate import federate
from tacit.serving.http.watch import BUCKETS

DEPLOY = Path(__file__).parents[2] / "deploy"
SERVERS = ("aggregator", "recommender")
INSTRUCTIONS = set(
    "FROM WORKDIR COPY RUN USER ENV VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD".split()
)
COUNTERS = {"requests", "uploads", "joins", "bytes_in", "bytes_out"}
GAUGES = {"devices", "commits", "stored", "well"}


def check_command(words: list[str]) -> dict[str, object]:
    """The options of a `tacit federate` command; raises for one that it does not have."""
    command = federate.commands[words[0]]
    context = command.make_context(words[0], words[1:])
    return context.params


def compose(role: str) -> dict:
    return yaml.safe_load((DEPLOY / "compose" / f"{role}.yaml").read_text())


def unit(role: str) -> ConfigParser:
    found = ConfigParser(strict=False, interpolation=None)
    found.optionxform = str
    found.read(DEPLOY / "systemd" / f"tacit-{role}.service")
    return found


def instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "container" / "Containerfile").read_text()
    listed = text.splitlines()
    lines = [x for x in listed if x and not x.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    pairs = (line.split(" ", 1) for line in joined.splitlines())
    return [(word, rest) for word, rest in pairs]


def test_the_image_is_pinned_runs_without_rights_and_tells_its_health() -> None:
    found = instructions()
    assert {word for word, _ in found} <= INSTRUCTIONS
    for word, rest in found:
        if word == "FROM":
            assert re.search(r":\d", rest)
        if word in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(rest), list)
    last = [rest for word, rest in found if word == "USER"][-1]
    assert last not in ("0", "root")
    health = dict(found)["HEALTHCHECK"]
    program = json.loads(health[health.index("[") :])
    compile(program[-1], "health", "exec")
    assert "/healthz" in program[-1]


@pytest.mark.parametrize("role", SERVERS)
def test_a_composed_server_starts_with_options_that_it_has(role) -> None:
    server = compose(role)["services"]["server"]
    given = check_command(server["command"])
    assert given["tickets"]
    assert given["store_file"] == "/run/secrets/store"
    assert not given["token"]


@pytest.mark.parametrize("role", SERVERS)
def test_what_is_composed_is_named_pinned_and_closed(role) -> None:
    whole = compose(role)
    for name, service in whole["services"].items():
        assert re.search(r":\d", service["image"]), name
        assert ("ports" in service) == (name == "proxy")
        for network in service["networks"]:
            assert network in whole["networks"]
        for secret in service.get("secrets", ()):
            assert secret in whole["secrets"]
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source.startswith("./") or source in whole["volumes"]
    assert whole["networks"]["inside"]["internal"] is True
    assert "inside" in whole["services"]["postgres"]["networks"]
    assert "outside" not in whole["services"]["postgres"]["networks"]
    server = whole["services"]["server"]
    assert server["read_only"]
    assert server["cap_drop"] == ["ALL"]


def test_the_two_servers_share_nothing() -> None:
    one, other = (compose(role) for role in SERVERS)
    assert one["name"] != other["name"]
    assert (
        check_command(one["services"]["server"]["command"])["home"]
        != (check_command(other["services"]["server"]["command"])["home"])
    )


def test_the_proxy_limits_what_it_takes_and_hides_counters() -> None:
    text = (DEPLOY / "compose" / "Caddyfile").read_text()
    depth = 0
    for line in text.splitlines():
        words = line.split("#")[0].split()
        depth += words.count("{") - words.count("}")
        assert depth >= 0
    assert depth == 0
    for asked in ("read_header", "max_size", "@inner path /metrics"):
        assert asked in text
    assert "reverse_proxy server:8700" in text


@pytest.mark.parametrize("role", SERVERS)
def test_a_unit_starts_with_options_that_it_has_and_no_rights(role) -> None:
    service = unit(role)["Service"]
    words = shlex.split(service["ExecStart"])
    assert words[1:3] == ["federate", role]
    given = check_command(words[2:])
    assert given["tls_cert"]
    assert given["store_file"] == "%d/store"
    for name in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "DynamicUser"):
        assert service[name] == "yes"
    assert service["ProtectSystem"] == "strict"


@pytest.mark.parametrize("role", SERVERS)
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_reads_the_unit(role, tmp_path) -> None:
    source = DEPLOY / "systemd" / f"tacit-{role}.service"
    copy = tmp_path / source.name
    text = source.read_text().replace("/opt/tacit/bin/tacit", "/bin/true")
    copy.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    complaints = [line for line in done.stderr.splitlines() if copy.name in line]
    assert not complaints


def known_metrics() -> set[str]:
    """Every name that a server may print."""
    names = {f"{each}_total" for each in COUNTERS} | GAUGES
    for each in BUCKETS:
        names |= {f"{each}_{end}" for end in ("bucket", "count", "sum")}
    return {f"tacit_{role}_{name}" for role in SERVERS for name in names}


def metrics_in(expression: str) -> set[str]:
    return set(re.findall(r"tacit_(?:recommender|aggregator)_\w+", expression))


def balanced(expression: str) -> bool:
    plain = re.sub(r'"[^"]*"', "", expression)
    return all(plain.count(a) == plain.count(b) for a, b in ("()", "[]", "{}"))


def test_alerts_speak_of_counters_that_there_are() -> None:
    whole = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())
    rules = [rule for group in whole["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 8
    for rule in rules:
        assert balanced(rule["expr"])
        assert metrics_in(rule["expr"]) <= known_metrics()
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]
    scrape = yaml.safe_load((DEPLOY / "prometheus" / "scrape.yaml").read_text())
    assert scrape["rule_files"] == ["alerts.yaml"]
    assert scrape["scrape_configs"][0]["metrics_path"] == "/metrics"


def test_the_board_shows_counters_that_there_are() -> None:
    board = json.loads((DEPLOY / "grafana" / "federation.json").read_text())
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    shown = set[str]()
    for panel in panels:
        for target in panel["targets"]:
            assert balanced(target["expr"])
            shown |= metrics_in(target["expr"])
    assert shown <= known_metrics()
    assert len(shown) >= 10


def test_the_names_of_counters_are_those_of_the_code() -> None:
    """So that the lists above cannot go stale."""
    source = DEPLOY.parent / "src" / "tacit" / "federation" / "server"
    text = "\n".join(path.read_text() for path in source.glob("*.py"))
    added = set(re.findall(r'metrics\.add\(\s*"(\w+)"', text))
    assert added >= COUNTERS
    observed = set(re.findall(r'metrics\.observe\(\s*"(\w+)"', text))
    assert observed == set(BUCKETS)
    gauges = text[text.index("gauges = {") :].split("}")[0]
    assert set(re.findall(r'"(\w+)":', gauges)) == GAUGES
