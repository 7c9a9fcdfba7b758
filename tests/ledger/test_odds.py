"""What delta means in odds: what is said of it is true of Gaussian noise, by an integral."""

from __future__ import annotations

from math import exp, inf, log, sqrt

import numpy as np
import pytest

from tacit.ledger.account.gaussian import epsilon_at
from tacit.ledger.account.odds import RARE, but_for, odds_times, rare


def passes(mu: float, level: float) -> float:
    """The chance that Gaussian noise lets odds grow by more than e^level: the loss at x is
    mu x - mu^2/2, and x is drawn around mu."""
    x = np.linspace(-12.0, 12.0, 2_000_001) + mu
    density = np.exp(-((x - mu) ** 2) / 2) / sqrt(2 * np.pi)
    beyond = mu * x - mu**2 / 2 > level
    return float(density[beyond].sum() * (x[1] - x[0]))


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("mu", [0.05, 0.2355, 1.0, 3.0])
def test_odds_grow_by_more_with_the_chance_that_is_told_at_most(mu, delta):
    epsilon = epsilon_at(mu, delta)
    assert passes(mu, log(odds_times(epsilon, delta))) <= rare(delta)


def test_delta_is_not_the_chance_that_odds_pass_the_exponential_of_epsilon():
    mu = 0.2355
    assert epsilon_at(mu, 1e-6) == pytest.approx(1.0, abs=0.02)
    assert passes(mu, epsilon_at(mu, 1e-6)) > 10 * 1e-6


def test_a_pure_promise_has_no_exception():
    assert odds_times(1.0, 0.0) == exp(1.0)
    assert rare(0.0) == 0.0
    assert but_for(0.0) == "without exception"


def test_the_usual_delta_costs_a_hundredth():
    assert rare(1e-6) == RARE
    assert odds_times(1.0, 1e-6) == pytest.approx(1.0101 * exp(1.0), rel=1e-4)
    assert but_for(1e-6) == "but for one chance in 10,000"


def test_a_large_delta_is_told_as_such():
    assert rare(1e-3) == pytest.approx(1e-2)
    assert odds_times(1.0, 0.5) == inf


def test_the_page_and_the_statement_say_the_same(node):
    """The rule of the browser, run beside this one."""
    for epsilon, delta in ((1.0, 1e-6), (10.0, 1e-6), (1.0, 0.0), (2.0, 1e-3)):
        times = odds_times(epsilon, delta)
        told = node(epsilon, delta)
        assert told["most"] == pytest.approx(times / (1 + times), rel=1e-12)
        assert told["fails"] == pytest.approx(rare(delta))


@pytest.fixture
def node():
    import json
    import shutil
    import subprocess
    from pathlib import Path

    program = shutil.which("node")
    if program is None:
        pytest.skip("there is no node here")
    root = Path(__file__).resolve().parents[2]
    module = root / "web/js/model/statement.js"

    def run(epsilon, delta):
        code = (
            f"import {{ odds }} from {json.dumps(module.as_uri())};"
            f"console.log(JSON.stringify(odds({epsilon}, {delta}, 0.5)))"
        )
        words = [program, "--input-type=module", "-e", code]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return run
