"""Shared by all tests: a home of their own, and few fixed profiles for random examples."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
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
