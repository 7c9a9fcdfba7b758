"""Conditional, compressed and partial answers follow the rules of HTTP."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tacit.serving.http.answer import FOREVER, Answered, Asset, Variants

BODY = bytes(range(256)) * 3 + b"words " * 2000
ASSET = Asset("model", "application/x-test", BODY)


def reply(asset: Asset | Variants = ASSET, method: str = "GET", **headers: str) -> Answered:
    sent = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return asset.reply({"type": "http", "method": method, "headers": sent})


def told(answer: Answered, name: str) -> str | None:
    return {k.decode(): v.decode() for k, v in answer.headers}.get(name)


def test_whole_and_identical() -> None:
    answer = reply()
    assert (answer.status, answer.body) == (200, BODY)
    assert told(answer, "content-length") == str(len(BODY))
    assert told(answer, "content-encoding") is None
    assert told(answer, "cache-control") == "no-cache"


def test_compressed_for_who_takes_it() -> None:
    answer = reply(accept_encoding="br;q=0, gzip")
    assert told(answer, "content-encoding") == "gzip"
    assert gzip.decompress(answer.body) == BODY
    assert told(answer, "vary") == "accept-encoding, accept"
    for refusing in ("gzip;q=0", "identity", "", "gzip;q=0.000, br;q=0", "gzip;q=nonsense"):
        assert told(reply(accept_encoding=refusing), "content-encoding") is None


def test_each_coding_has_its_tag_and_all_are_known() -> None:
    plain, small = reply(), reply(accept_encoding="gzip")
    tags = [told(each, "etag") for each in (plain, small)]
    assert tags[0] != tags[1]
    for tag in tags:
        assert tag is not None
        for listed in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            answer = reply(if_none_match=listed, accept_encoding="gzip")
            assert (answer.status, answer.body) == (304, b"")
            assert told(answer, "content-length") is None
    assert reply(if_none_match='"other"').status == 200


def test_a_head_has_no_body() -> None:
    answer = reply(method="HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert told(answer, "content-length") == str(len(BODY))


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-9", 0, 9),
        ("bytes=100-", 100, len(BODY) - 1),
        ("bytes=-7", len(BODY) - 7, len(BODY) - 1),
        ("bytes=5-999999999", 5, len(BODY) - 1),
        ("bytes=-999999999", 0, len(BODY) - 1),
    ],
)
def test_a_range(asked: str, first: int, last: int) -> None:
    answer = reply(range=asked, accept_encoding="gzip")
    assert answer.status == 206
    assert answer.body == BODY[first : last + 1]
    assert told(answer, "content-range") == f"bytes {first}-{last}/{len(BODY)}"
    assert told(answer, "content-encoding") is None


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "lines=1-2", "bytes=-", "bytes=x-", "bytes"])
def test_a_range_that_is_not_understood_is_answered_in_whole(asked: str) -> None:
    assert (reply(range=asked).status, reply(range=asked).body) == (200, BODY)


@pytest.mark.parametrize("asked", [f"bytes={len(BODY)}-", "bytes=9-3", "bytes=-0"])
def test_a_range_outside(asked: str) -> None:
    answer = reply(range=asked)
    assert answer.status == 416
    assert told(answer, "content-range") == f"bytes */{len(BODY)}"


def test_a_range_only_of_what_the_client_began_with() -> None:
    tag = told(reply(), "etag")
    assert tag is not None
    assert reply(range="bytes=0-3", if_range=tag).status == 206
    assert reply(range="bytes=0-3", if_range='"before"').status == 200


def test_for_ever_under_a_digest() -> None:
    lasting = ASSET.forever()
    assert told(reply(lasting), "cache-control") == FOREVER
    assert told(reply(lasting), "etag") == told(reply(), "etag")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "text/plain"),
        ("*/*", "text/plain"),
        ("text/html", "text/html"),
        ("application/json", "application/json"),
        ("text/html;q=0.2, application/json;q=0.9", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("image/png", "text/plain"),
        ("application/*", "application/json"),
    ],
)
def test_one_thing_in_the_type_that_is_liked_best(accept: str, kind: str) -> None:
    kinds = ("text/plain", "text/html", "application/json")
    both: Any = Variants(tuple(Asset("statement", each, each.encode()) for each in kinds))
    assert reply(both, accept=accept).body == kind.encode()
