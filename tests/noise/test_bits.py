"""Random bits: fresh, never shared, replaceable by tests only."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import SettingError
from tacit.noise import bits as bits_module
from tacit.noise.bits import Bits, fresh, injected

FORK = """
import os, sys
from tacit.noise.bits import Bits, fresh
if sys.argv[1] == "unguarded":
    Bits._check_home = lambda self: None
bits = fresh()
bits.word()                 # leaves words in the small buffer, which must not survive the fork
read, write = os.pipe()
if sys.argv[1] == "locked":
    bits._lock.acquire()    # as if another thread were drawing at this moment
child = os.fork()
if sys.argv[1] == "locked" and child:
    bits._lock.release()
seen = bits.token(16).hex() + format(bits.word(), "016x")
if child == 0:
    os.write(write, seen.encode())
    os._exit(0)
os.waitpid(child, 0)
print("same" if os.read(read, 100).decode() == seen else "differ")
"""


def counting_source() -> Callable[[int], bytes]:
    count = itertools.count()
    return lambda n: next(count).to_bytes(n, "big")


def forked(mode: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", FORK, mode], capture_output=True, text=True, check=True, timeout=60
    )
    return run.stdout.strip()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@needs_fork
def test_parent_and_child_draw_different_bits_after_a_fork() -> None:
    assert forked("guarded") == "differ"


@needs_fork
def test_a_child_is_not_stopped_by_a_lock_of_its_parent() -> None:
    assert forked("locked") == "differ"


@needs_fork
def test_the_fork_test_notices_a_generator_without_its_guard() -> None:
    assert forked("unguarded") == "same"


def test_two_generators_never_share_a_stream() -> None:
    assert not np.intersect1d(fresh().words(1000), fresh().words(1000)).size


def test_one_stream_does_not_repeat() -> None:
    bits = fresh()
    drawn = np.concatenate(
        [bits.words(n) for n in (1, 70_000, 3, 32_768, 5)] + [np.array([bits.word()], np.uint64)]
    )
    assert np.unique(drawn).size == drawn.size


def test_every_bit_is_fair() -> None:
    words = fresh().words(100_000)
    ones = np.array([int(np.sum(words >> np.uint64(k) & np.uint64(1))) for k in range(64)])
    assert np.all(np.abs(ones - 50_000) < 10 * np.sqrt(25_000))


def test_a_generator_takes_a_new_key_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits_module, "_REKEY_BYTES", 80)
    asked: list[int] = []

    def source(n: int) -> bytes:
        asked.append(n)
        return bytes([len(asked)]) * n

    with bits_module._inject(source):
        bits = fresh()
        for _ in range(6):
            bits.words(5)
    assert asked == [48, 48, 48]


def test_injected_entropy_repeats_and_is_marked() -> None:
    with bits_module._inject(counting_source()):
        first = fresh()
        assert injected()
        assert first.injected
        drawn = first.words(10)
    with bits_module._inject(counting_source()):
        assert np.array_equal(fresh().words(10), drawn)
    assert not injected()
    assert first.injected
    assert not fresh().injected


def test_injection_ends_with_an_error() -> None:
    with pytest.raises(RuntimeError), bits_module._inject(counting_source()):
        raise RuntimeError
    assert not injected()


def test_a_short_source_is_refused() -> None:
    with bits_module._inject(lambda n: b""), pytest.raises(SettingError, match="too few"):
        fresh()


def test_only_the_testing_package_may_inject() -> None:
    root = Path(tacit.__file__).parent
    users = [p for p in root.rglob("*.py") if "_inject" in p.read_text(encoding="utf-8")]
    outside = {p.relative_to(root).parts[0] for p in users} - {"testing"}
    assert outside <= {"noise"}
    assert [p.name for p in users if p.relative_to(root).parts[0] == "noise"] == ["bits.py"]


@pytest.mark.parametrize("clone", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_generator_cannot_be_copied(clone: Callable[[Bits], object]) -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        clone(fresh())


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000])
def test_below_is_uniform(n: int) -> None:
    drawn = fresh().below(n, 20_000)
    counts = np.bincount(drawn, minlength=n)
    assert counts.size == n
    assert np.all(np.abs(counts - 20_000 / n) < 10 * np.sqrt(20_000 / n) + 1)


def test_below_takes_big_numbers() -> None:
    top = 3**200
    drawn = [fresh().below(top) for _ in range(50)]
    assert all(0 <= value < top for value in drawn)
    assert max(drawn) > top // 2


def test_below_refuses_nothing_to_draw_from() -> None:
    with pytest.raises(SettingError):
        fresh().below(0)


@pytest.mark.parametrize("nbytes", [0, 1, 7, 8, 33])
def test_tokens_have_the_length_asked_for(nbytes: int) -> None:
    assert len(fresh().token(nbytes)) == nbytes


def test_noise_imports_neither_numba_nor_scipy() -> None:
    code = (
        "import sys, tacit.noise, tacit.noise.gaussian; print({'numba', 'scipy'} & "
        "set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
