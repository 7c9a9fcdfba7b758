"""Shared by all tests: a home of their own, and few fixed profiles for random examples."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Deterministic examples and no time limit: two busy cores must not turn a slow example into
# a failure.
settings.register_profile("small", deadline=None, derandomize=True, max_examples=40, database=None)
settings.register_profile(
    "full",
    deadline=None,
    max_examples=500,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("full" if os.environ.get("TACIT_FULL") else "small")


@pytest.fixture(autouse=True)
def tacit_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test may touch the real ledger, key or caches, not even through a default."""
    home = tmp_path_factory.mktemp("tacit-home")
    monkeypatch.setenv("TACIT_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether the judged sizes were asked for (`scripts/test --full`)."""
    return bool(os.environ.get("TACIT_FULL"))


def _authority(folder: Path, name: str) -> tuple[Path, Path, Path]:
    """A certificate authority of one's own, and a server's certificate by it: (authority,
    certificate, key)."""
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now, made = datetime.now(UTC), {}
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{name} {k}")])
        for k in ("root", "server")
    ]
    for k, key in enumerate(keys):
        builder = (
            x509.CertificateBuilder()
            .subject_name(names[k])
            .issuer_name(names[0])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=k == 0, path_length=None), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()),
                critical=False,
            )
        )
        if k:
            local = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
            builder = builder.add_extension(local, critical=False)
        else:
            sign = x509.KeyUsage(*(flag in (5, 6) for flag in range(9)))  # keyCertSign, cRLSign
            builder = builder.add_extension(sign, critical=True)
        made[k] = folder / f"{name}-{k}.pem"
        made[k].write_bytes(
            builder.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )
    private = folder / f"{name}-key.pem"
    private.write_bytes(
        keys[1].private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return made[0], made[1], private


@pytest.fixture(scope="session")
def authority() -> Callable[[Path, str], tuple[Path, Path, Path]]:
    """`authority(folder, name)` makes one."""
    return _authority


class Postgres:
    """A real, throw-away PostgreSQL server."""

    script = Path(__file__).parents[1] / "scripts" / "postgres"

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self._made = 0

    def database(self) -> str:
        """The address of a new, empty database."""
        self._made += 1
        name = f"test{self._made}"
        self.psql(self.url, f"CREATE DATABASE {name}")
        return f"{self.url.rsplit('/', 1)[0]}/{name}"

    def psql(self, url: str, *statements: str) -> str:
        commands = [part for statement in statements for part in ("-c", statement)]
        done = subprocess.run(
            ["psql", "-qtAX", "-v", "ON_ERROR_STOP=1", url, *commands],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def restart(self) -> None:
        """At once, as after a crash: what was not committed is lost."""
        subprocess.run([self.script, "restart", self.folder], check=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """In a short path (a socket's name is limited), readable by the unprivileged user that
    runs it."""
    parent = Path(tempfile.mkdtemp(prefix="tacit-pg-"))
    parent.chmod(0o755)
    folder = parent / "cluster"
    done = subprocess.run(
        [Postgres.script, "start", folder], capture_output=True, text=True, check=False
    )
    if done.returncode:
        shutil.rmtree(parent, ignore_errors=True)
        pytest.skip(f"no PostgreSQL here: {done.stderr.strip()[-200:]}")
    yield Postgres(folder, done.stdout.strip())
    subprocess.run([Postgres.script, "stop", folder], check=False)
    shutil.rmtree(parent, ignore_errors=True)


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The folder of real public data sets, for the few tests that also look there."""
    folder = os.environ.get("TACIT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TACIT_DATA names no folder of public data sets")
    return Path(folder)
