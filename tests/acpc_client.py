"""A client of the ACPC's protocol as small as one can be, to be run with HOST PORT: WISH of ``call``, ``nonsense``,
``leave``, ``silent`` or ``version``."""

import socket
import sys
import time


def main(wish, host, port):
    with (
        socket.create_connection((host, int(port))) as connection,
        connection.makefile("rw", newline="") as lines,
    ):
        lines.write("VERSION:x\r\n" if wish == "version" else "VERSION:2.0.0\r\n")
        lines.flush()
        for line in lines:
            state = line.strip()
            _, position, _, betting, _ = state.split(":")
            *before, now = betting.split("/")
            to_act = (len(now) + (0 if before else 1)) % 2
            if state.split(":")[4].count("|") and to_act == int(position):
                answer(wish, lines, state)


def answer(wish, lines, state):
    if wish == "leave":
        sys.exit()
    if wish == "silent":
        time.sleep(60)
    lines.write(f"{state}:{'z' if wish == 'nonsense' else 'c'}\r\n")
    lines.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
