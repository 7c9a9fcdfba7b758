"""The promise in odds, and its signature, checked by the browser."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import expect

from .conftest import Visitor
from .serve import Place


def sign(place: Place, statement: bytes) -> None:
    """As a server would: the signature of a statement of these bytes, and the key, as headers."""
    key = Ed25519PrivateKey.generate()
    signature = key.sign(b"tacit statement 1\0" + statement)
    place.data["header tacit-signature"] = signature.hex().encode()
    place.data["header tacit-key"] = key.public_key().public_bytes_raw().hex().encode()


def test_epsilon_in_odds(visitor: Visitor, place: Place) -> None:
    page = visitor.visit(place.address)
    page.get_by_role("link", name="Promise").click()
    outcome = page.locator(".odds output")
    # e^0.2 : 1 moves one half to 0.55.
    expect(outcome).to_contain_text("If they were 50 % sure before")
    expect(outcome).to_contain_text("at most 55 % sure, and at least 45 %")
    page.get_by_label("How sure they were before").press("End")
    expect(outcome).to_contain_text("If they were 99 % sure before")
    expect(page.locator(".signature")).to_contain_text("not signed")


def test_a_signature_is_checked_here(visitor: Visitor, place: Place) -> None:
    sign(place, place.data["statement"])
    page = visitor.visit(place.address)
    page.get_by_role("link", name="Promise").click()
    expect(page.locator(".signature")).to_contain_text("Signed, and the signature was checked")


def test_a_changed_statement_is_exposed(visitor: Visitor, place: Place) -> None:
    sign(place, place.data["statement"])
    place.data["statement"] = place.data["statement"].replace(b"0.2", b"0.1")
    page = visitor.visit(place.address)
    page.get_by_role("link", name="Promise").click()
    expect(page.locator(".signature")).to_contain_text("does not fit")


def test_what_is_not_private_says_so(visitor: Visitor, place: Place) -> None:
    statement = place.data["statement"]
    place.data["statement"] = statement.replace(
        b'"certified": "certified"', b'"certified": "not private"'
    ).replace(b'"epsilon": 0.2', b'"epsilon": null')
    page = visitor.visit(place.address)
    page.get_by_role("link", name="Promise").click()
    expect(page.locator(".seal .standing")).to_have_text("Not private")
    expect(page.locator(".odds")).to_contain_text("no odds can be given")
