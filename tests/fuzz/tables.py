"""A dealer of Leduc hold'em that sends odd lines to a bot."""

import socket
import struct
import threading
from random import Random

from .text import odd_text

HANDS = [
    [f"MATCHSTATE:{state}" for state in hand]
    for hand in (
        ("0:0::Ks|", "0:0:cr:Ks|", "0:0:crc/:Ks|/Qh", "0:0:crc/cc:Ks|Jh/Qh"),
        ("1:1:c:|Kh", "1:1:cc/:|Kh/Ks", "1:1:cc/r:|Kh/Ks", "1:1:cc/rf:Js|Kh/Ks"),
        ("0:2:r:Jh|", "0:2:rf:Jh|Ks"),
    )
]
"""Lines of a dealer in some hands, in order."""
ODD = (
    *("", "#", ";", "MATCHSTATE", "MATCHSTATE:::", "VERSION:2.0.0", "MATCHSTATE:0:0::"),
    *("MATCHSTATE:9:0::Ks|", "\0"),
)
SECONDS = 0.05
"""Seconds that a dealer waits for an answer."""


class HostileDealer:
    """Listens on a port, and sends odd lines to the first client; the generator decides which."""

    def __init__(self, rng: Random) -> None:
        lines = [line for hand in rng.sample(HANDS, rng.randint(1, 3)) for line in hand]
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(ODD))
        if rng.random() < 0.5:
            lines = lines[: rng.randint(0, len(lines))]
        lines = [odd_text(rng, line) if rng.random() < 0.1 else line for line in lines]
        ending = rng.choice(("\r\n", "\r\n", "\r\n", "\n", "\r", ""))
        self.said = [f"{line}{ending}".encode(errors="surrogatepass") for line in lines]
        self._waits, self._resets = rng.random() < 0.7, rng.random() < 0.3
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._deal, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the table."""
        self._socket.close()
        self._thread.join(5)

    def _deal(self) -> None:
        try:
            self._socket.settimeout(10)
            connection, _ = self._socket.accept()
        except OSError:
            return  # nobody came
        with connection:
            connection.settimeout(SECONDS)
            for line in (b"", *self.said):
                try:
                    connection.sendall(line)
                    if self._waits:
                        connection.recv(1000)
                except TimeoutError:
                    continue
                except OSError:
                    return
            if self._resets:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
