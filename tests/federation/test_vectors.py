"""`spec/vectors/federation.json` is what the program makes, and what a second implementation
makes that shares no code with it."""

from __future__ import annotations

import hmac
import importlib
import json
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "spec")]
other = importlib.import_module("independent")
maker = importlib.import_module("federation")
MOST_LINES = 150


@pytest.fixture(scope="module")
def vectors():
    return json.loads(maker.FILE.read_text())


def test_the_program_still_makes_them(vectors) -> None:
    assert json.loads(json.dumps(maker.made())) == vectors


def test_the_recommender_comes_to_the_sum_of_the_integers(vectors) -> None:
    assert maker.unmasked(vectors["round"]) == vectors["round"]["integers"]


def test_the_second_implementation_shares_nothing() -> None:
    text = (HERE / "independent.py").read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert "import tacit" not in text
    assert "from tacit" not in text
    assert "numpy" not in text


def test_keys(vectors) -> None:
    for each in vectors["keys"]:
        private = bytes.fromhex(each["private"])
        public = bytes.fromhex(each["public"])
        assert other.key_name(public) == each["name"]
        mac, mask = other.exchanged(private, bytes.fromhex(each["with"]))
        assert (mac.hex(), mask.hex()) == (each["mac"], each["mask"])


def test_macs_and_signatures(vectors) -> None:
    found = vectors["macs"]
    key = bytes.fromhex(found["key"])
    parts = [bytes.fromhex(each) for each in found["parts"]]
    assert other.tag(key, *parts) == found["tag"]
    head = (b"head", b"POST", b"/v1/join", b"130")
    assert other.tag(key, *head) == found["head"]
    request = (b"request", b"POST", b"/v1/join", b"body")
    assert other.tag(key, *request) == found["request"]
    answer = (b"response", b"00" * 32, b"answer")
    assert other.tag(key, *answer) == found["response"]
    device = found["device"]
    stamp = b"1700000000000000000"
    proof = other.tag(key, b"rotate", device.encode(), stamp)
    assert proof == found["rotation"]
    other.verify(found["identity"], found["signed"], b"task", b"document")


def test_tickets(vectors) -> None:
    """Both servers come to one key, and no device has it."""
    found = vectors["macs"]
    seed = bytes.fromhex(found["sign"])
    shared = bytes.fromhex(found["tickets_with"])
    own = hmac.digest(seed, b"tacit/1 tickets", "sha256")
    (key,) = other.exchanged(own, shared, (b"ticket",))
    assert key.hex() == found["ticket_key"]
    where = f"{maker.TASK} 3 1 {found['device']}".encode()
    assert other.tag(key, b"ticket", where) == found["ticket"]


def test_frames(vectors) -> None:
    found = vectors["frames"]
    header, payload = other.unframed(bytes.fromhex(found["upload"]))
    assert (header["round"], header["attempt"], header["least"]) == (3, 1, 2)
    assert payload == b"\x01\x02"
    assert other.frame(header, payload).hex() == found["upload"]
    assert other.layouts_print(found["layouts"]) == found["print"]


def test_masks(vectors) -> None:
    for each in vectors["masks"]:
        secret = bytes.fromhex(each["secret"])
        count, bits = len(each["words"]), each["bits"]
        words = other.mask(secret, each, each["told"], each["part"], count, bits)
        assert words == each["words"]


def test_a_whole_round(vectors) -> None:
    """From integers to uploads, and from uploads to the sum, byte for byte."""
    found = vectors["round"]
    layouts = other.unframed(bytes.fromhex(found["opening"]))[0]["parts"]
    uploads = {}
    for key, given in zip(vectors["keys"], found["given"], strict=True):
        device = key["name"]
        told, state = other.unframed(bytes.fromhex(found["announced"][device]))
        secret = bytes.fromhex(key["mask"])
        integers = given["integers"]
        uploads[device] = other.upload(told, state, secret, layouts, integers)
        assert uploads[device].hex() == found["uploads"][device]
    sum_ = other.summed(bytes.fromhex(found["opening"]), uploads)
    assert sum_.hex() == found["sum"]
