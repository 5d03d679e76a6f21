"""Play UPAC with the file tables.npz in the current folder: ``python3 -m spewy.competitions.upac.runtime``."""

from __future__ import annotations

import os
import sys
from contextlib import closing, suppress
from pathlib import Path

from spewy.competitions.upac.runtime.player import Player
from spewy.competitions.upac.runtime.protocol import serve
from spewy.competitions.upac.runtime.tables import Tables, TablesError

TABLES = "tables.npz"
BAD_INPUT, INTERRUPTED = 2, 130


def main() -> int:

    def note(text: str) -> None:
        with suppress(OSError, AttributeError):  # the bot plays on if nobody reads its log
            sys.stderr.write(f"{text}\n")

    try:
        with closing(Tables(Path(TABLES), TABLES)) as tables:
            player = Player(tables, int.from_bytes(os.urandom(4), "big"))
            with open(0, "rb", closefd=False) as source, open(1, "wb", buffering=0, closefd=False) as sink:
                serve(source, sink, player, note)
    except TablesError as error:
        note(f"Error: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
