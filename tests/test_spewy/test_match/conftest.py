"""Solves that several test modules play in."""

import pytest
from naive_spots import BOARDS, RIVER, SMALL_TURN, solve, unraked


@pytest.fixture(scope="session")
def solved_spots(tmp_path_factory):
    """A folder with solves of a river, a turn, and a batch of three boards."""
    folder = tmp_path_factory.mktemp("spots")
    solve(folder, RIVER, "river")
    solve(folder, SMALL_TURN, "turn")
    (folder / "boards").mkdir()
    for board in BOARDS:
        solve(folder / "boards", unraked(board), board)
    return folder
