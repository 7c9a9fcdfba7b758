"""`tacit serve` refuses what cannot work before it listens."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tacit.cli.main import main


def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: object
) -> str:
    monkeypatch.setattr(sys, "argv", ["tacit", "serve", *map(str, options)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_refusals(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shelf_folder: Path,
    tmp_path: Path,
) -> None:
    def told(*options: object) -> str:
        return refused(monkeypatch, capsys, *options)

    stars = shelf_folder / "stars"
    assert "no model to serve" in told()
    assert "not a Tacit model" in told(tmp_path)
    assert "both --tls-cert and --tls-key" in told(stars, "--tls-cert", "x")
    assert "not secure" in told(stars, "--federation", "http://far.example")
    assert "cannot be read" in told(stars, "--officer-token-file", tmp_path / "none")
    assert "precision" in told(stars, "--precision", "float8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "cannot listen" in told(stars, "--port", port)
