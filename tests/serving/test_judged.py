"""At the judged sizes only (`scripts/test --full`): invented and many requests, a large model."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.data.reading.items import read_items
from tacit.model.shared import load_shared
from tacit.serving.app import Options, build
from tacit.serving.compact import pack
from tacit.serving.http.answer import Asset

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]
WANTED = 2_000
"""Requests a second, of files and of models that have not changed."""
SECONDS = 4


@pytest.fixture(autouse=True)
def only_full(full: bool) -> None:
    if not full:
        pytest.skip("only with scripts/test --full")


def test_no_invented_request_breaks_the_server(folders: list[Path], web: Path) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
    from schemathesis.checks import not_a_server_error

    server = build(folders, Options(web=web, logs=False, recommend=True))
    schema = schemathesis.openapi.from_asgi("/openapi.json", server.app)
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
        @given(case=operation.as_strategy(), named=st.booleans())
        def ask(case: object, named: bool) -> None:
            nonlocal tried
            tried += 1
            if named and "name" in (case.path_parameters or {}):  # type: ignore[attr-defined]
                case.path_parameters["name"] = "stars"  # type: ignore[attr-defined]
            answer = case.call()  # type: ignore[attr-defined]
            case.validate_response(answer, checks=[not_a_server_error])  # type: ignore[attr-defined]

        ask()
    assert tried > 200


@pytest.fixture
def address(shelf_folder: Path) -> Iterator[str]:
    command = [sys.executable, "-c", "from tacit.cli.main import main; main()", "serve"]
    process = subprocess.Popen(
        [*command, str(shelf_folder / "stars"), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.wait()
    process.stdout.close()


def test_two_thousand_requests_a_second(address: str) -> None:
    wrk = shutil.which("wrk")
    if wrk is None:
        pytest.skip("wrk is not installed")
    tag = build_tag(address)
    for path, headers in (("model", ["-H", f"If-None-Match: {tag}"]), ("plain.css", [])):
        told = subprocess.run(
            [
                wrk,
                "-t1",
                "-c32",
                f"-d{SECONDS}s",
                "-H",
                "accept-encoding: gzip",
                *headers,
                address + path,
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        rate = float(re.findall(r"Requests/sec:\s+([\d.]+)", told)[0])
        assert "Socket errors" not in told
        assert "Non-2xx" not in told or path == "model"  # wrk counts 304 among the others
        assert rate >= WANTED, told


def build_tag(address: str) -> str:
    """The tag of the packed model."""
    from urllib.request import urlopen

    for _ in range(100):
        try:
            with urlopen(address + "model") as answer:
                return str(answer.headers["etag"])
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


def test_a_model_of_movielens_is_below_three_megabytes(
    public_data: Path, shelf_folder: Path
) -> None:
    place = public_data / "ml-1m" / "movies.dat"
    if not place.is_file():
        pytest.skip("MovieLens 1M is not in TACIT_DATA")
    films = read_items(place)
    rng = np.random.default_rng(0)
    arrays = {
        "baseline": rng.standard_normal(len(films)).astype(np.float32),
        "variance": rng.random(len(films)).astype(np.float32),
        "loadings": rng.standard_normal((len(films), 60)).astype(np.float32),
    }
    shared = replace(load_shared(shelf_folder / "stars")[0], arrays=arrays, catalogue=films)
    packed = Asset("model", "x", pack(shared, "ml-1m").data)
    assert all(len(form.body) < 3_000_000 for form in packed.forms.values())
