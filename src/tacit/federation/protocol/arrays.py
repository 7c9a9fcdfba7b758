"""Named arrays on the wire: safetensors, sorted by name, so that packing twice is equal."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.federation.protocol.wire import WireError

_KINDS = {
    f"{'|' if n == 1 else '<'}{c}{n}": f"{c.upper()}{8 * n}"
    for c in "fiu"
    for n in (1, 2, 4, 8)
}
_KINDS["|b1"] = "BOOL"
"""What safetensors calls the types of numpy."""


def pack_state(state: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as safetensors, written here: it is done for every device and round.

    Guarantee: equal arrays under equal names are equal bytes, whatever their order was, for
    masks are keyed by a digest of them. A single number becomes an array of one.
    """
    facts = dict[str, Any]()
    data = list[bytes]()
    at = 0
    for name in sorted(state):  # packed twice it must be equal, byte for byte
        array = state[name]
        whole = np.ascontiguousarray(array)
        data.append(whole.tobytes())
        facts[name] = {
            "dtype": _KINDS[whole.dtype.str],
            "shape": whole.shape,
            "data_offsets": (at, at := at + whole.nbytes),
        }
    text = json.dumps(facts).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *data])


def unpack_state(data: bytes | memoryview) -> dict[str, NDArray[Any]]:
    """The arrays of `pack_state`, or of any other writer of safetensors.

    Only whether it parses is checked here; what belongs into a state is for whoever asked
    for it to say (`tacit.federation.agreed.expect`).
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(bytes(data)))
    except SafetensorError:
        raise WireError("public state that does not parse") from None
