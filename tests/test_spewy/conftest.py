"""Solves of small jobs that many tests look at."""

import pytest
from cli_runs import KUHN, LEDUC, POLARISED, TURN, good, write


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with the jobs ``kuhn``, ``leduc``, ``polarised``, ``turn`` and their solves, which no test changes."""
    base = tmp_path_factory.mktemp("small")
    for name, text in (("kuhn", KUHN), ("leduc", LEDUC), ("polarised", POLARISED), ("turn", TURN)):
        good("solve", write(base, text, f"{name}.toml"), "--out", base / name)
    return base
