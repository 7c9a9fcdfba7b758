"""What the server answers, and what it never does."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tacit.errors import ModelError, SettingError
from tacit.serving.app import Options, Server, build, metrics_text, page_files
from tacit.serving.compact import unpack
from tacit.serving.http.headers import check_origin

Ask = Callable[..., Any]
PLACES = [
    "/",
    "/js/main.js",
    "/plain.css",
    "/models",
    "/model",
    "/catalogue",
    "/statement",
    "/statement.html",
    "/statement.json",
    "/statement.txt",
    "/models/stars/model",
    "/models/likes/catalogue",
    "/models/likes/statement.html",
    "/healthz",
    "/openapi.json",
]


@pytest.fixture(scope="module")
def server(folders: list[Path], web: Path) -> Server:
    return build(folders, Options(web=web, logs=False))


def test_every_place_answers(ask: Ask, server: Server) -> None:
    for path in PLACES:
        assert ask(server.app, path).status == 200, path


def test_what_is_not_for_visitors_is_not_there(ask: Ask, server: Server) -> None:
    for path in (
        "/README.md",
        "/.hidden.js",
        "/js",
        "/docs",
        "/redoc",
        "/officer",
    ):
        assert ask(server.app, path).status == 404, path
    for path in ("/../pyproject.toml", "/js/../../x", "/%2e%2e/x", "/models/none/model", "//"):
        assert ask(server.app, path).status == 404, path


def test_every_answer_carries_the_headers(ask: Ask, server: Server) -> None:
    tag = ask(server.app, "/model").headers["etag"]
    answers = [ask(server.app, path) for path in [*PLACES, "/nowhere"]]
    answers += [
        ask(server.app, "/model", if_none_match=tag),
        ask(server.app, "/model", range="bytes=0-9"),
        ask(server.app, "/model", range="bytes=999999999-"),
        ask(server.app, "/model", method="POST", body=b"{}"),
        ask(server.app, "/healthz", method="DELETE"),
        ask(server.app, "/nowhere", method="POST", body=b"x" * 2_000_000),
    ]
    assert {each.status for each in answers} == {200, 304, 206, 416, 405, 404, 413}
    for answer in answers:
        policy = dict(
            rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; ")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in answer.headers["permissions-policy"]
        assert "set-cookie" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers
        names = [name for name, _ in answer.raw]
        assert len(names) == len(set(names))


def test_the_page_may_join_only_where_its_operator_said(
    ask: Ask, folders: list[Path], web: Path
) -> None:
    origins = ["https://train.example:8443", "http://127.0.0.1:9000"]
    server = build(folders, Options(web=web, logs=False, federation=origins))
    policy = ask(server.app, "/").headers["content-security-policy"]
    assert f"connect-src 'self' {' '.join(origins)};" in policy
    assert ask(server.app, "/models").facts["federation"] == origins
    for wrong in ("http://far.example", "https://a.example/path", "*", "https://x; script-src *"):
        with pytest.raises(SettingError):
            check_origin(wrong)


def test_tls_is_remembered_where_it_is_used(ask: Ask, folders: list[Path], web: Path) -> None:
    plain = build(folders, Options(web=web, logs=False))
    assert "strict-transport-security" not in ask(plain.app, "/").headers
    secure = build(folders, Options(web=web, logs=False, tls=True))
    assert "max-age" in ask(secure.app, "/").headers["strict-transport-security"]


def test_the_list_names_every_model_by_relative_addresses(ask: Ask, server: Server) -> None:
    facts = ask(server.app, "/models").facts
    assert facts["default"] == "stars"
    assert facts["recommend"] is False
    assert [each["name"] for each in facts["models"]] == ["stars", "likes"]
    assert [each["positive"] for each in facts["models"]] == [False, True]
    for each in facts["models"]:
        assert each["promise"]["certified"] == "certified"
        assert each["promise"]["unit"] == "user"
        for key in ("base", "model", "catalogue"):
            assert not re.match(r"[a-z]+:|/", each[key])
        lasting = ask(server.app, "/" + each["model"])
        assert lasting.headers["cache-control"].endswith("immutable")
        assert lasting.body == ask(server.app, f"/{each['base']}model").body
        assert unpack(lasting.body).header["digest"] == each["digest"]
        assert ask(server.app, "/" + each["catalogue"]).facts["digest"] == each["digest"]


def test_a_model_is_small_and_asked_for_once(ask: Ask, server: Server) -> None:
    first = ask(server.app, "/model", accept_encoding="gzip")
    assert first.headers["content-encoding"] == "gzip"
    assert len(first.body) < 1_000_000
    again = ask(server.app, "/model", accept_encoding="gzip", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_a_statement_in_words_as_a_page_and_as_stored(
    ask: Ask, server: Server, shelf_folder: Path
) -> None:
    stored = (shelf_folder / "stars" / "statement.json").read_bytes()
    assert ask(server.app, "/statement", accept="application/json").body == stored
    assert ask(server.app, "/statement.json").body == stored
    assert b"differentially private" in ask(server.app, "/statement").body
    page = ask(server.app, "/statement", accept="text/html,*/*;q=0.8").body.decode()
    assert '<link rel="stylesheet" href="plain.css">' in page
    below = ask(server.app, "/models/likes/statement.html").body.decode()
    assert 'href="../../plain.css"' in below
    for html in (page, below):
        assert not re.search(r"<script|<style|style=|\son\w+=", html)


def test_a_signed_statement_can_be_checked_from_its_bytes(
    ask: Ask, server: Server, shelf_folder: Path
) -> None:
    stored = json.loads((shelf_folder / "stars" / "statement.json").read_text())
    told = ask(
        server.app, "/statement", accept="application/vnd.tacit.signed+json, application/json;q=0.5"
    )
    assert json.loads(told.body) == {
        name: value for name, value in stored.items() if name != "signature" and value is not None
    }
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(told.headers["tacit-key"]))
    signature = bytes.fromhex(told.headers["tacit-signature"])
    key.verify(signature, b"tacit statement 1\0" + told.body)
    with pytest.raises(InvalidSignature):
        key.verify(signature, told.body)


def test_below_a_prefix_that_a_proxy_leaves(ask: Ask, folders: list[Path], web: Path) -> None:
    server = build(folders, Options(web=web, logs=False, root="/films/"))
    assert ask(server.app, "/films/model").status == 200
    assert ask(server.app, "/films/healthz").status == 200
    assert ask(server.app, "/films/").status == 200
    assert ask(server.app, "/model").status == 404
    moved = ask(server.app, "/films")
    assert (moved.status, moved.headers["location"]) == (308, "films/")


def test_the_page_itself_names_no_absolute_address() -> None:
    for path, asset in page_files().items():
        if path.endswith((".html", ".js", ".css", ".webmanifest")):
            text = asset.body.decode()  # type: ignore[union-attr]
            assert not re.search(r"""(?:src|href)=["']/|from ['"]/|url\(/""", text), path


def test_a_folder_without_a_model_is_refused(tmp_path: Path, web: Path) -> None:
    with pytest.raises(ModelError, match="not a Tacit model"):
        build([tmp_path], Options(web=web))
    with pytest.raises(SettingError, match="no model"):
        build([], Options(web=web))


def test_two_folders_of_one_name(folders: list[Path], web: Path) -> None:
    server = build([folders[0], folders[0]], Options(web=web, logs=False))
    assert list(server.shelf.models) == ["stars", "stars-2"]


def test_openapi_lists_what_is_there(ask: Ask, server: Server) -> None:
    paths = ask(server.app, "/openapi.json").facts["paths"]
    assert {"/models", "/model", "/catalogue", "/statement", "/healthz"} <= set(paths)
    assert "/recommend" not in paths


def test_metrics_count_and_name_nothing(ask: Ask, folders: list[Path], web: Path) -> None:
    server = build(folders[:1], Options(web=web, logs=False))
    ask(server.app, "/model", query=b"who=alice")
    ask(server.app, "/secret-of-alice")
    text = metrics_text(server)
    assert 'tacit_serve_requests_total{what="model",status="200"} 1' in text
    assert 'what="other",status="404"} 1' in text
    assert "alice" not in text
    assert ask(server.app, "/metrics").status == 404


@pytest.fixture(scope="module")
def open_server(folders: list[Path], web: Path) -> Server:
    return build(folders, Options(web=web, recommend=True))


def question(**more: object) -> bytes:
    ratings = [{"item": "Alien", "rating": 5}, {"item": "Heat", "rating": 2}]
    return json.dumps({"ratings": ratings, "n": 4, **more}).encode()


class TestRecommend:
    """`POST /recommend`."""

    def test_it_is_off_unless_asked_for(self, ask: Ask, server: Server) -> None:
        assert ask(server.app, "/recommend", method="POST", body=question()).status == 404

    def test_it_answers_as_the_model_does(self, ask: Ask, open_server: Server) -> None:
        told = ask(open_server.app, "/recommend", method="POST", body=question())
        assert told.status == 200
        assert told.headers["cache-control"] == "no-store"
        model = open_server.shelf.models["stars"].model
        lines = model.recommend({"Alien": 5, "Heat": 2}, 4)
        assert [each["item"] for each in told.facts["recommendations"]] == [
            each.item for each in lines
        ]
        for each in told.facts["recommendations"]:
            assert 1 <= each["low"] <= each["rating"] <= each["high"] <= 5

    def test_other_models_and_likes(self, ask: Ask, open_server: Server) -> None:
        body = json.dumps({"ratings": [{"item": "Alien"}], "n": 3}).encode()
        told = ask(open_server.app, "/models/likes/recommend", method="POST", body=body)
        assert len(told.facts["recommendations"]) == 3
        assert (
            ask(open_server.app, "/models/none/recommend", method="POST", body=body).status == 404
        )

    def test_what_is_unknown_is_said(self, ask: Ask, open_server: Server) -> None:
        ratings = [{"item": "Alien", "rating": 4}, {"item": "no such film", "rating": 4}]
        told = ask(open_server.app, "/recommend", method="POST", body=question(ratings=ratings))
        assert told.facts["unknown"] == ["no such film"]

    @pytest.mark.parametrize(
        "body",
        [
            b"not json",
            b"[]",
            b"{}",
            b'{"ratings": [{"item": "Alien", "rating": 99}]}',
            b'{"ratings": [{"item": "Alien", "rating": "\\ud800"}]}',
            b'{"ratings": [{"item": "\\ud800", "rating": 3}]}',
            b'{"ratings": [{"item": "Alien", "rating": NaN}]}',
            b'{"ratings": [], "n": 0}',
            b'{"ratings": [], "by": "magic"}',
            b'{"ratings": [], "secret-field": 1}',
        ],
    )
    def test_a_wrong_question_is_refused_without_its_words(
        self, ask: Ask, open_server: Server, body: bytes
    ) -> None:
        told = ask(open_server.app, "/recommend", method="POST", body=body)
        assert told.status in (400, 422)
        assert b"ud800" not in told.body

    def test_nothing_is_logged(
        self, ask: Ask, open_server: Server, caplog: pytest.LogCaptureFixture
    ) -> None:
        logging.getLogger("tacit.federation.server").propagate = True
        with caplog.at_level(logging.DEBUG):
            ask(open_server.app, "/recommend", method="POST", body=question())
            ask(open_server.app, "/recommend", method="POST", body=b"not json")
            ask(open_server.app, "/healthz", query=b"who=alice")
        told = [getattr(record, "facts", {}) for record in caplog.records]
        assert [each.get("path") for each in told if "path" in each] == ["/healthz"]
        assert "alice" not in caplog.text + json.dumps(told)

    def test_too_much_is_refused(self, ask: Ask, open_server: Server) -> None:
        long = question(exclude=["x" * 100] * 20_000)
        assert ask(open_server.app, "/recommend", method="POST", body=long).status == 413
        many = question(ratings=[{"item": "Alien", "rating": 3}] * 2001)
        assert ask(open_server.app, "/recommend", method="POST", body=many).status == 422
