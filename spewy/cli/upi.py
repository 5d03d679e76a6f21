"""``spewy upi``: a server that speaks PioSOLVER's protocol UPI on stdin and stdout."""

from __future__ import annotations

import sys

import click


@click.command()
def upi() -> None:
    """Serve PioSOLVER's protocol UPI.

    The server reads commands from stdin, one on each line, and answers on stdout, as PioSOLVER and jesolver do, so that
    scripts for these programs look at solves of Spewy, and make some.

    \b
    Examples:
      spewy upi < script.txt
      echo load_tree results/T1 | spewy upi
    """  # noqa: D301
    from spewy.bridges.upi import UpiServer

    with UpiServer(sys.stdout) as server:
        server.serve(sys.stdin)
