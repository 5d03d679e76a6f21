"""What a player knows in a match: all states that it saw and all that it did, as one key of 64 bits.

Tensors alone forget how betting went; the whole stream of them is never less than the player's information state. It
may be more, since it also tells how many states passed, and that is known to a bot at the table.
"""

from __future__ import annotations

import hashlib

from spewy.competitions.higc.text import State

START = bytes(8)


def seen(key: bytes, state: State) -> bytes:
    """The key after a state was seen."""
    digest = hashlib.blake2b(key, digest_size=8)
    for tensor in state.tensors:
        digest.update(tensor)
    digest.update(repr(state.legal).encode())
    return digest.digest()


def did(key: bytes, action: int) -> bytes:
    """The key after an action of the player."""
    return hashlib.blake2b(key + str(action).encode(), digest_size=8).digest()
