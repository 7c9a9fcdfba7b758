"""Answers go out in pieces, so that what a slow reader has not read is not held for it: under
TLS a whole answer would be encrypted, and kept, for each of them."""

from __future__ import annotations

from starlette.types import Message, Send

PIECE = 64 << 10


def in_pieces(send: Send) -> Send:
    """`send`, which waits for the peer after each piece of a long body."""

    async def sent(message: Message) -> None:
        body = message.get("body", b"")
        if message["type"] != "http.response.body" or len(body) <= PIECE:
            await send(message)
            return
        last = (len(body) - 1) // PIECE * PIECE
        for start in range(0, last, PIECE):
            part = body[start : start + PIECE]
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({**message, "body": body[last:]})

    return sent
