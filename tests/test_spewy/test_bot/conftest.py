"""Solves that several test modules play from."""

import pytest
from bot_games import GAMES, folder_of


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Folders of the small games, by their names."""
    return {name: folder_of(tmp_path_factory.mktemp("game"), game, 100) for name, game in GAMES.items()}
