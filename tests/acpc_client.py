"""A small client of the ACPC's protocol, run as ``acpc_client.py WISH HOST PORT``.

WISH says what the client does:

- ``call``: it always calls; ``nonsense``: it answers nonsense; ``leave``: it closes the connection;
- ``silent``: it never answers, and leaves its process id in the file that SILENT_CLIENTS names;
- ``odd``: it raises in hands of odd numbers; ``stray``: it sends other lines before each answer;
- ``version``: its version is garbled; ``old``: its version is 1.0.0; ``mute``: it sends no version.
"""

import os
import socket
import sys
import time

VERSIONS = {"version": "VERSION:x", "old": "VERSION:1.0.0"}


def main(wish, host, port):
    with (
        socket.create_connection((host, int(port))) as connection,
        connection.makefile("r", newline="") as lines,
    ):
        if wish == "mute":
            return
        say(connection, VERSIONS.get(wish, "VERSION:2.0.0"))
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
    if wish == "stray":
        for text in ("# a comment", *["\x1b[2J"] * 12):
            say(connection, text)
    raises = wish == "odd" and number % 2
    say(connection, f"{state}:{'z' if wish == 'nonsense' else 'r' if raises else 'c'}")


def say(connection, text):
    connection.sendall(f"{text}\r\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
