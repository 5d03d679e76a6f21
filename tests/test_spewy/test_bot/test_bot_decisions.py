"""Moving and reworking the bot's modules changes no decision: hands from before, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path

import bot_decisions
import pytest
from moved import processor

RECORD = json.loads(bot_decisions.RECORD.read_text())

pytestmark = pytest.mark.skipif(
    processor() not in RECORD["processors"], reason="other processors round sums in another order"
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return bot_decisions.folders(tmp_path_factory.mktemp("games"))


@pytest.mark.parametrize("case", RECORD["decisions"])
def test_bots_decide_what_they_decided(folders: dict[str, Path], case: str) -> None:
    game, how = case.split("; ")
    assert bot_decisions.decisions(folders[game], how) == RECORD["decisions"][case]
