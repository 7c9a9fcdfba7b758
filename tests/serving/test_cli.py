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
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    for host in ("0.0.0.0", "::", "192.0.2.1", "127.example"):
        words = told(stars, "--host", host, "--port", 0, "--officer-token-file", token)
        assert "officer's token" in words
        assert "--tls-cert" in words
        assert "--insecure" in words
    assert "--insecure is for --officer-token-file" in told(stars, "--insecure")
    assert "cannot listen" in told(
        stars, "--host", "192.0.2.1", "--officer-token-file", token, "--insecure"
    )
    assert "precision" in told(stars, "--precision", "float8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "cannot listen" in told(stars, "--port", port)
