"""What each party of a federation sees, and that a party which saw more would be caught."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.auditing import parties
from tacit.auditing.verdict import NEVER, ClaimVerdict, Target
from tacit.federation.device import device

DEVICES = 120


def views(unit, mistake=NEVER, devices=DEVICES):
    target = Target(parties.METHOD, unit, "sound", 5.0, mistake=mistake)
    return parties.audit_parties(target, devices)


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_neither_server_learns_more_than_is_claimed_and_both_learn_all(unit):
    aggregator, recommender, both = views(unit)
    assert not aggregator.fell
    assert not recommender.fell
    assert both.verdict is ClaimVerdict.LEAK
    assert both.calibration == "none"


def test_an_aggregator_that_sees_bare_words_is_caught(monkeypatch):
    real = device.mask

    def no_mask(key, label, rows, width, bits):
        return np.zeros_like(real(key, label, rows, width, bits))

    monkeypatch.setattr(device, "mask", no_mask)
    monkeypatch.setattr(parties, "mask", no_mask)
    assert views("user", 0.05, 240)[0].measured > 0.2


def test_a_sum_without_the_aggregators_noise_is_caught(monkeypatch):
    from tacit.federation.agreed import scheme
    from tacit.noise import portion

    def nothing(spread, size, bits=None):
        return np.zeros(size, np.int64)

    for module in (portion, scheme):
        if hasattr(module, "draw_server_noise"):
            monkeypatch.setattr(module, "draw_server_noise", nothing)
    assert views("rating", 0.05)[1].fell


def test_what_is_stored_is_recorded_too():
    done = parties.record("user", 1.0, 1e-6, 20)
    assert len(done.recorder.of(parties.AGGREGATOR, "upload")) == 20
    stored = done.recorder.of(parties.AGGREGATOR, "stored")
    assert stored
    assert any(len(each) > 20 * 100 for each in stored)
