"""The doctor: explains, repairs, and tells by its exit status."""

from __future__ import annotations

import json
import stat

import pytest


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Nothing of the machine that runs the tests."""
    for name in ("NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def test_a_well_installation_says_so(tacit):
    seen = tacit("doctor")
    assert seen.status == 0
    assert "nothing slows this installation down" in seen.out


def test_kernels_that_are_not_compiled_are_slow(tacit, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    seen = tacit("doctor")
    assert seen.status == 3
    for word in ("slow:", "why:", "remedy: unset NUMBA_DISABLE_JIT"):
        assert word in seen.out


def test_fewer_threads_are_a_note(tacit, monkeypatch):
    import os

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    seen = tacit("doctor")
    assert seen.status == 0
    assert "NUMBA_NUM_THREADS is 1, and 4 cores are usable" in seen.out


def test_a_key_that_others_may_read_is_closed(tacit, tacit_home):
    tacit("ledger", "cap", "--epsilon", 9)
    key = next(tacit_home.glob("*.key"))
    key.chmod(0o644)
    assert tacit("doctor").status == 1
    seen = tacit("doctor", "--repair")
    assert seen.status == 0
    assert "only you may read" in seen.out
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_broken_ledger_is_told(tacit, tmp_path):
    (tmp_path / "ledger").write_text("no ledger at all")
    seen = tacit("doctor", "--ledger", tmp_path / "ledger")
    assert seen.status == 1
    assert "restore it from a copy" in seen.out


def test_a_place_for_kernels_is_made(monkeypatch, tmp_path):
    from tacit.cli import doctor

    place = tmp_path / "kernels"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place))
    monkeypatch.setattr(doctor, "_writable", lambda each: each.exists())
    found = [ill for ill in doctor.problems() if str(place) in ill.what]
    assert [ill.grade for ill in found] == [doctor.SLOW]
    assert found[0].repair is not None
    found[0].repair()
    assert not [ill for ill in doctor.problems() if str(place) in ill.what]


def test_ailments_are_json_too(tacit, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    told = json.loads(tacit("doctor", "--json").out)
    assert told["ailments"][0]["remedy"] == "unset NUMBA_DISABLE_JIT"
