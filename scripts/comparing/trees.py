"""Run cells in a checkout, in workers with a path and home of their own; keep what they find."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

Found = dict[str, dict[str, Any]]
"""Of each cell the seconds that it took and its record."""

HERE = Path(__file__).parent
KEPT_KERNELS = 12
"""Folders of compiled kernels that are kept, of some 5 MB each."""
NUMERIC = (
    "numpy",
    "numba",
    "scipy",
    "polars",
    "pydantic",
    "safetensors",
    "cryptography",
    "dp-accounting",
)
ONE_THREAD = ("OPENBLAS", "OMP", "MKL", "NUMBA", "POLARS", "VECLIB")


class WorkerError(Exception):
    """A worker ended otherwise than by finishing its list."""


@dataclass(frozen=True)
class Tree:
    """A checkout and where its results are cached."""

    checkout: Path
    cache: Path
    key: str
    """Of its sources before anything was run."""

    @staticmethod
    def at(checkout: Path, cache: Path) -> Tree:
        """The checkout as it is now, committed or not."""
        return Tree(checkout.resolve(), cache, key_of(checkout.resolve()))

    @cached_property
    def kernels(self) -> Path:
        """A folder for each state of all kernels.

        Numba compiles again when a file has changed, but not when one has that it calls.
        """
        root = self.checkout / "src" / "tacit"
        text = hashlib.sha256(str(self.checkout).encode())
        _add(text, root, (path for path in root.rglob("*.py") if b"njit" in path.read_bytes()))
        return self.cache / "kernels" / text.hexdigest()[:32]

    def names(self, quick: bool) -> list[str]:
        """The cells of this checkout."""
        listed = subprocess.run(
            [sys.executable, "-m", "comparing.worker", "list", str(self.checkout)],
            env=self.environment(),
            check=False,
            capture_output=True,
            text=True,
        )
        if listed.returncode:
            raise WorkerError(f"{self.checkout} cannot list its cells:\n{listed.stderr}")
        lines = listed.stdout.splitlines()
        return [line[1:] for line in lines if line.startswith("*") or not quick]

    def known(self) -> Found:
        """What earlier runs found for these very sources."""
        try:
            found: Found = json.loads(gzip.decompress(self._file.read_bytes()))
        except (OSError, EOFError, ValueError):  # none, or one that was cut short
            return {}
        return found

    def keep(self, found: Mapping[str, Any]) -> None:
        """Add to what is known for a later comparison, if the sources are still the same."""
        if not found or key_of(self.checkout) != self.key:
            return
        self.cache.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.known() | dict(found)).encode()
        with tempfile.NamedTemporaryFile(dir=self.cache, delete=False) as file:
            file.write(gzip.compress(text, 6))
        os.replace(file.name, self._file)

    @property
    def _file(self) -> Path:
        return self.cache / f"{self.key}.json.gz"

    def environment(self) -> dict[str, str]:
        """One thread, a fixed order of sets, and this checkout before any installed one."""
        one = {f"{name}_NUM_THREADS": "1" for name in ONE_THREAD} | {"POLARS_MAX_THREADS": "1"}
        path = os.pathsep.join((str(self.checkout / "src"), str(HERE.parent)))
        fixed = {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "TZ": "UTC", "COLUMNS": "100"}
        return {**os.environ, **one, **fixed, "NUMBA_CACHE_DIR": str(self.kernels)}


def key_of(checkout: Path) -> str:
    """A name for what is run: the sources, this list of cells and the libraries."""
    text = hashlib.sha256(sys.version.encode())
    for name in NUMERIC:
        text.update(f"{name} {version(name)}\n".encode())
    for root in (checkout / "src" / "tacit", HERE):
        _add(text, root, root.rglob("*"))
    return text.hexdigest()[:32]


def run(work: list[tuple[Tree, list[str]]]) -> list[Found]:
    """Each list of names in a process of its own, all at once."""
    with tempfile.TemporaryDirectory(prefix="tacit-compare-") as folder, ExitStack() as stack:
        started = [
            stack.enter_context(_Worker(tree, names, Path(folder) / str(number)))
            for number, (tree, names) in enumerate(work)
        ]
        return [worker.found() for worker in started]


class _Worker:
    """A process that ends with this object, however that ends."""

    def __init__(self, tree: Tree, names: list[str], folder: Path) -> None:
        folder.mkdir()
        self.tree, self.names = tree, names
        self.out, self.errors = folder / "out.jsonl", folder / "errors.txt"
        (folder / "names.txt").write_text("\n".join(names) + "\n", "utf-8")
        tree.kernels.mkdir(parents=True, exist_ok=True)
        os.utime(tree.kernels)
        _prune(tree.kernels.parent)
        command = [sys.executable, "-m", "comparing.worker", "run", str(tree.checkout)]
        home = {"TACIT_HOME": str(folder / "home"), "TMPDIR": str(folder)}
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*command, str(folder / "names.txt"), str(self.out)],
                env=tree.environment() | home,
                stdout=errors,
                stderr=errors,
                cwd=folder,
            )

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def found(self) -> Found:
        """What it wrote, when it has finished."""
        status = self.process.wait()
        lines = (
            [json.loads(line) for line in self.out.read_text("utf-8").splitlines()]
            if not status
            else []
        )
        found = {line.pop("name"): line for line in lines}
        if status or set(found) != set(self.names):
            told = self.errors.read_text("utf-8", errors="replace")[-4000:]
            raise WorkerError(
                f"a worker of {self.tree.checkout} ended with status {status}:\n{told}"
            )
        return found


def _prune(folder: Path) -> None:
    """Forget kernels that were not used for longest."""
    folders = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    for old in folders[:-KEPT_KERNELS]:
        shutil.rmtree(old, ignore_errors=True)


def _add(text: Any, root: Path, paths: Iterable[Path]) -> None:
    for path in sorted(paths):
        if path.is_file() and "__pycache__" not in path.parts:
            text.update(f"{path.relative_to(root)} {path.stat().st_size}\n".encode())
            text.update(path.read_bytes())
