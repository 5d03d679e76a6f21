"""A client of the ACPC's protocol as small as one can be, to be run with HOST PORT: WISH of ``call``, ``nonsense``,
``leave``, ``silent``, ``odd`` or ``version``. A silent one leaves its process id in the file that SILENT_CLIENTS names;
an odd one raises in hands of odd numbers."""

import os
import socket
import sys
import time


def main(wish, host, port):
    with (
        socket.create_connection((host, int(port))) as connection,
        connection.makefile("r", newline="") as lines,
    ):
        say(connection, "VERSION:x" if wish == "version" else "VERSION:2.0.0")
        for line in lines:
            state = line.strip()
            _, position, number, betting, cards = state.split(":")
            *before, now = betting.split("/")
            over = now[-1:] == "f" or all(cards.split("/")[0].split("|"))
            if not over and (len(now) + (0 if before else 1)) % 2 == int(position):
                answer(wish, connection, state, int(number))


def answer(wish, connection, state, number):
    if wish == "leave":
        sys.exit()
    if wish == "silent":
        if "SILENT_CLIENTS" in os.environ:
            with open(os.environ["SILENT_CLIENTS"], "a") as file:
                file.write(f"{os.getpid()}\n")
        time.sleep(60)
    raises = wish == "odd" and number % 2
    say(connection, f"{state}:{'z' if wish == 'nonsense' else 'r' if raises else 'c'}")


def say(connection, text):
    connection.sendall(f"{text}\r\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
