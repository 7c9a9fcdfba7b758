"""The second implementation as a device on the wire: HTTP around `independent`, from the same
page."""

from __future__ import annotations

import json
import secrets
import time
import urllib.request

from cryptography.hazmat.primitives.asymmetric import x25519
from independent import exchanged, frame, key_name, popularity, tag, unframed, upload, verify

ONE = {"weights": 1 << 20, "mean": 1 << 21}
"""The most that one device adds to a number, of `popularity`."""


def bits(most: int) -> int:  # 5
    exact = max(8, most.bit_length() + 1)
    return min(32 if exact <= 32 else 64, exact + 2)


class Device:
    """One person with ratings `own`, by item, in a task of `popularity`."""

    def __init__(self, recommender: str, pin: str, own: dict[str, float]) -> None:
        self.private = secrets.token_bytes(32)
        public = x25519.X25519PrivateKey.from_private_bytes(self.private).public_key()
        self.public = public.public_bytes_raw()
        self.name, self.own = key_name(self.public), own
        body, signature = self._get(recommender, "/v1/task")
        verify(pin, signature, b"task", body)
        self.facts = json.loads(body)
        other = self.facts["aggregator"]
        self.servers = {
            "recommender": (recommender, pin),
            "aggregator": (other["url"], other["identity"]),
        }
        self.keys = {role: self._card(*where) for role, where in self.servers.items()}

    def _get(self, url: str, path: str) -> tuple[bytes, str]:
        with urllib.request.urlopen(url + path, timeout=60) as answer:
            return answer.read(), answer.headers.get("tacit-signature", "")

    def _card(self, url: str, pin: str) -> bytes:
        card = json.loads(self._get(url, "/v1/keys")[0])
        assert card["identity"] == pin
        newest = card["exchange"][0]
        verify(pin, newest["signature"], b"exchange", bytes.fromhex(newest["public"]))
        return bytes.fromhex(newest["public"])

    def call(self, role: str, path: str, body: bytes) -> bytes:  # 4
        mac, _ = exchanged(self.private, self.keys[role])
        own = tag(mac, b"request", b"POST", path.encode(), body)
        head = tag(mac, b"head", b"POST", path.encode(), str(len(body)).encode())
        headers = {
            "tacit-device": self.name,
            "tacit-key": key_name(self.keys[role]),
            "tacit-head": head,
            "tacit-mac": own,
        }
        request = urllib.request.Request(self.servers[role][0] + path, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = answer.read()
            assert answer.headers["tacit-mac"] == tag(mac, b"response", own.encode(), found)
        return found

    def enrol(self) -> None:
        for role in self.servers:
            self.call(role, "/v1/enrol", json.dumps({"public": self.public.hex()}).encode())

    def take_part(self) -> None:
        join = {"version": 1, "task": self.facts["name"], "stamp": time.time_ns()}
        told, payload = unframed(self.call("recommender", "/v1/join", frame(join)))
        ids = self.facts["task"]["items"]["ids"]
        items = sorted(ids.index(item) for item in self.own)
        task = self.facts["task"]
        middle = (task["low"] + task["high"]) / 2
        width = (task["high"] - task["low"]) / 4
        given = popularity(
            items, [(self.own[ids[item]] - middle) / width for item in items], len(ids)
        )
        plain = {"sparse": False, "report": False, "law": "", "spread": 0, "printed": ""}
        layouts = [
            {"name": name, "size": len(words), "width": 1}
            | {"bits": bits(task["cohort"] * ONE[name])}
            | plain
            for name, words in given.items()
        ]
        _, secret = exchanged(self.private, self.keys["recommender"])
        self.call("aggregator", "/v1/upload", upload(told, payload, secret, layouts, given))
