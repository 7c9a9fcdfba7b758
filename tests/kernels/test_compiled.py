"""Compiled kernels lie in a folder of the user's, and in no other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numba

import tacit
from tacit.cli.doctor import kernel_caches
from tacit.kernels import compiled

SOURCE = Path(tacit.__file__).parent
CODE = (
    "import numpy as np\n"
    "from tacit.kernels.rows import add_rows\n"
    "out = np.zeros((2, 1), np.int64)\n"
    "add_rows(np.zeros(1, np.uint32), np.ones((1, 1), np.int64), out)\n"
    "print(out[0, 0])\n"
)


def test_they_are_kept_in_the_users_cache(tmp_path):
    env = {
        "XDG_CACHE_HOME": str(tmp_path),
        "PYTHONPATH": str(SOURCE.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"
    kept = tmp_path / "tacit" / compiled.FOLDER
    assert kept.stat().st_mode & 0o777 == 0o700
    assert [path for path in kept.rglob("*.nbi") if "add_rows" in path.name]


def test_no_kernel_is_compiled_past_it():
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        if path.name != "compiled.py":
            assert not re.search(r"from numba import|import numba\b", text), path


def test_a_folder_that_others_may_write_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    compiled.folder.cache_clear()
    try:
        place = tmp_path / "tacit" / compiled.FOLDER
        assert compiled.folder() == str(place)
        assert kernel_caches() == [place]
        place.chmod(0o777)
        compiled.folder.cache_clear()
        assert compiled.folder() == ""
    finally:
        compiled.folder.cache_clear()


def test_others_who_use_numba_are_left_alone():
    before = numba.config.CACHE_DIR
    compiled.njit(nogil=True)(lambda: 1)
    assert before == numba.config.CACHE_DIR
