"""Peers in environments of their own, in the newest version that installs; what does not is
named.

Each has a folder: their requirements contradict each other (older numpy here, newer there).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PEERS = {
    "implicit": ("implicit", "implicit"),
    "cornac": ("cornac", "cornac"),
    "surprise": ("scikit-surprise numpy<2", "surprise"),
    "lenskit": ("lenskit", "lenskit"),
    "opendp": ("opendp numpy", "opendp"),
    "tumult": ("tmlt.core", "tmlt.core"),
    "rectools": ("rectools", "rectools"),
    "frames": ("polars pandas numpy scipy", "scipy"),
}
"""By name: what pip is asked for, and what is imported."""
PATIENCE = 900
"""Seconds for one of them."""
ASKED = (
    "import importlib, importlib.metadata as m, json, sys\n"
    "importlib.import_module(sys.argv[1])\n"
    "print(json.dumps(m.version(sys.argv[2])))\n"
)


class Installed(NamedTuple):
    """A peer, or why it is not there."""

    name: str
    python: str
    version: str
    missing: str


def default_folder() -> Path:
    """Where environments are kept between runs."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "tacit-peers"


def install(name: str, folder: Path) -> Installed:
    """One peer; nothing is done again that is there."""
    wanted, module = PEERS[name]
    place = folder / name
    python = place / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run(
                [sys.executable, "-m", "venv", str(place)], check=True, capture_output=True
            )
        version = _version(python, module, wanted)
        if version is None:
            words = [str(python), "-m", "pip", "install", "-q", *wanted.split()]
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            if done.returncode:
                return Installed(name, "", "", _last(done.stderr))
            version = _version(python, module, wanted)
    except (subprocess.SubprocessError, OSError) as error:
        return Installed(name, "", "", type(error).__name__)
    if version is None:
        return Installed(name, "", "", "installs, and cannot be imported")
    return Installed(name, str(python), version, "")


def _version(python: Path, module: str, wanted: str) -> str | None:
    words = [str(python), "-c", ASKED, module, wanted.split()[0]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    found: str = json.loads(done.stdout.splitlines()[-1])
    return found


def version_of(python: str, package: str) -> str:
    """Of a package in a peer's environment."""
    words = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    done = subprocess.run(
        [python, "-c", words, package], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _last(text: str) -> str:
    """What pip says in the end, without any address."""
    lines = [line for line in text.splitlines() if line.startswith("ERROR")]
    told = lines[-1] if lines else "pip failed"
    return told.split("http")[0][:120].strip()


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else default_folder()
    place.mkdir(parents=True, exist_ok=True)
    for each in sys.argv[2:] or PEERS:
        print(install(each, place), flush=True)
