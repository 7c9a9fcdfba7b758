"""What goes over the wire: frames, words, keys and masks."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import Failure
from tacit.federation.protocol import keys, packing, wire

LAYOUT = wire.PartLayout(name="x", size=50, width=3, bits=32, sparse=True)


def test_a_frame_comes_back_as_it_went() -> None:
    upload = wire.Upload(task="ab" * 16, round=3, attempt=1, least=5, rows=(2,))
    found, payload = wire.unpack(wire.Upload, wire.pack(upload, b"words"))
    assert (found, bytes(payload)) == (upload, b"words")


@pytest.mark.parametrize(
    "frame",
    [b"", b"TACIT1", b"TACIT1\xff\xff\xff\xff{}", b"TACIT1\x02\0\0\0{}", b"XACIT1\x02\0\0\0{}"],
)
def test_what_is_no_frame_is_refused(frame) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack(wire.Upload, frame)


@pytest.mark.parametrize("bits", [32, 64])
def test_words_are_integers_modulo_a_power_of_two(bits) -> None:
    values = np.array([[0, 1, -1, 2**31 - 1, -(2**31)]])
    assert np.array_equal(wire.integers(wire.to_words(values, bits), bits), values)


@pytest.mark.parametrize(
    ("rows", "payload"),
    [((1,), bytes(15)), ((1,), bytes(17)), ((), bytes(16)), ((51,), bytes(51 * 16))],
)
def test_a_payload_of_a_wrong_length_is_refused(rows, payload) -> None:
    with pytest.raises(wire.WireError):
        wire.sections((LAYOUT,), rows, memoryview(payload))


def test_rows_that_do_not_ascend_are_refused() -> None:
    payload = np.array([4, 4], "<u4").tobytes() + bytes(24)
    with pytest.raises(wire.WireError):
        wire.sections((LAYOUT,), (2,), memoryview(payload))


def test_both_sides_derive_the_same_secrets() -> None:
    (one, one_public), (two, two_public) = (keys.new_exchange(), keys.new_exchange())
    assert keys.secrets(one, two_public) == keys.secrets(two, one_public)
    assert keys.secrets(one, two_public).mac != keys.secrets(one, two_public).mask


def test_a_card_is_believed_only_under_its_pin(tmp_path) -> None:
    one, two = keys.Identity(tmp_path / "one"), keys.Identity(tmp_path / "two")
    assert len(keys.believed(one.card(), one.public.hex())) == 1
    with pytest.raises(Failure, match="pinned"):
        keys.believed(two.card(), one.public.hex())
    forged = one.card() | {"exchange": two.card()["exchange"]}
    with pytest.raises(Failure, match="signed"):
        keys.believed(forged, one.public.hex())


def test_rotation_keeps_the_identity_and_old_keys(tmp_path) -> None:
    identity = keys.Identity(tmp_path / "id")
    before, current = identity.public, identity.current
    identity.rotate()
    assert identity.public == before
    assert identity.current != current
    assert current in identity.by_name
    assert (tmp_path / "id").stat().st_mode & 0o777 == 0o600


def test_parts_of_a_mac_cannot_run_into_one_another() -> None:
    assert keys.tag(b"k", b"ab", b"c") != keys.tag(b"k", b"a", b"bc")


def test_a_mask_is_uniform_and_differs_by_round_part_and_device() -> None:
    base = packing.round_key(b"s" * 32, "task", 1, "nonce", "told")
    others = [
        packing.round_key(b"s" * 32, "task", 2, "nonce", "told"),
        packing.round_key(b"t" * 32, "task", 1, "nonce", "told"),
        packing.round_key(b"s" * 32, "task", 1, "nonce", "other state"),
    ]
    words = packing.mask(base, "x", 1000, 8, 32)
    assert all(not np.array_equal(words, packing.mask(key, "x", 1000, 8, 32)) for key in others)
    assert not np.array_equal(words, packing.mask(base, "y", 1000, 8, 32))
    assert abs(words.mean() / 2**32 - 0.5) < 0.03  # ten standard deviations


def test_a_key_that_a_round_names_outlives_any_number_of_rotations(tmp_path) -> None:
    identity = keys.Identity(tmp_path / "id")
    named = identity.current
    identity.hold(named)
    elsewhere = keys.Identity(tmp_path / "id")
    for _ in range(5):
        elsewhere.rotate()
    identity.refresh()
    assert named in identity.by_name
    assert len(identity.card()["exchange"]) == keys.KEPT + 1
    assert named in keys.Identity(tmp_path / "id").by_name
    identity.hold(identity.current)
    assert named not in identity.by_name
    assert (tmp_path / "id").stat().st_mode & 0o777 == 0o600
