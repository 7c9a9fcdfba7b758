"""A person is told the same, to the bit, whichever kernels of BLAS her processor gets."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KERNELS = {"x86_64": ("Prescott", "Haswell"), "AMD64": ("Prescott", "Haswell")}
"""All processors of a kind can run them, and they add in different orders."""
ANSWERS = """
import hashlib, json, sys
import numpy as np
sys.path.insert(0, "spec")
import personal

def told(model, own):
    yield from model.predict(own)
    yield model.scores(own)
    for item in personal.ASKED:
        reason = model.explain(own, item)
        yield from (np.float64(reason.baseline), reason.own)

def every(shared, case):
    model, schema = personal.personal_model(shared), shared.schema
    rows = np.array([row for row, _ in case["ratings"]], np.int64)
    values = np.array([value for _, value in case["ratings"]])
    inner = (values - schema.middle) / schema.unit_width
    yield from told(model, personal.Own(rows, inner))
    if shared.personal == "gaussian":  # with the effect of a day
        times = 40_000 * np.arange(len(rows))
        yield from told(model, personal.Own(rows, inner, times, 90_000))

for kind in personal.KINDS:
    facts = json.loads((personal.FOLDER / f"personal-{kind}.json").read_text())
    shared = personal.published(facts)
    digest = hashlib.sha256()
    for case in facts["cases"]:
        for each in every(shared, case):
            digest.update(np.asarray(each, np.float64).tobytes())
    print(kind, digest.hexdigest())
ones = np.random.default_rng(0).standard_normal((200, 99))
print((ones @ ones.T).tobytes().hex()[:100_000], file=sys.stderr)
"""


def test_answers_have_the_same_bits_under_every_kernel_of_blas() -> None:
    kernels = KERNELS.get(platform.machine())
    if kernels is None:
        pytest.skip("no two kernels of BLAS are known that every such processor has")
    done = [
        subprocess.run(
            [sys.executable, "-c", ANSWERS],
            cwd=ROOT,
            env=os.environ | {"OPENBLAS_CORETYPE": each, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        for each in kernels
    ]
    if done[0].stderr == done[1].stderr:
        pytest.skip("this BLAS has one kernel")
    assert done[0].stdout == done[1].stdout
    assert done[0].stdout.count("\n") > 10
