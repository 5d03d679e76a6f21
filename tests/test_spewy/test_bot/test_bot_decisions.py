"""Moving and reworking the bot's modules changes no decision: hands from before, to the last bit.

``PYTHONPATH=tests python tests/test_spewy/test_bot/test_bot_decisions.py`` records anew, for a change that is meant
to change decisions.
"""

import hashlib
import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from bot_games import GAMES, any_action, dealt, folder_of, played_out
from moved import processor

from spewy.bot.agent import bot_of
from spewy.bot.options import Options
from spewy.game.hand import Hand

FILE = Path(__file__).parents[2] / "data/moves/bot.json"
RECORD = json.loads(FILE.read_text())
MOST_BYTES = 200_000
"""Largest subgame of bots for which most subgames are too large."""
HOWS = {
    "never": {"resolve": "never"},
    "never, likelier": {"resolve": "never", "translation": "likelier"},
    "off-tree": {"resolve": "off-tree"},
    "off-tree, mixed": {"resolve": "off-tree", "safe": "mixed"},
    "always": {},
    "always, cold": {"warm": False},
    "always, likelier": {"translation": "likelier"},
    "always, rivers": {"rounds": 1},
    "always, flops": {"rounds": 3},
    "mixed": {"safe": "mixed"},
    "mixed, flops": {"safe": "mixed", "rounds": 3},
    "cfr-d": {"safe": "cfr-d"},
    "too large": {"rounds": 3},
    "too large, mixed": {"safe": "mixed", "rounds": 3},
}
CASES = {
    "limit": ("never", "off-tree", "always", "always, flops", "mixed", "cfr-d", "too large, mixed"),
    "no-limit": HOWS,
    "a chip behind": (
        *("never, likelier", "off-tree, mixed", "always", "always, rivers"),
        *("mixed, flops", "cfr-d", "too large"),
    ),
}
"""All options where bets have sizes; in the other games each rule of safety and each round to re-solve from."""


def decisions(folder, how):
    """Lines with the decisions of some hands: line, board, action, source, and a hash of frequencies and ranges."""
    out, fits = [], not how.startswith("too large")
    options = {"resolve": "always", "iterations": 6, "seconds": None, **HOWS[how]}
    with bot_of(folder, Options(**options)) as bot:
        if not fits:
            bot._builder.most_bytes = MOST_BYTES
        for seed in range(8):
            rng = Random(seed)
            hand, coming = dealt(bot.game, rng)
            bot.new_hand(hand, seed % 2, seed)

            def choose(hand, rng=rng, seat=seed % 2):
                out.append(decision(bot, Hand(hand.betting, hand.hole, hand.board), seat, fits))
                return any_action(hand, rng)

            bot.hand_over(played_out(hand, coming, choose)[0])
        return [*out, f"failures {dict(bot.tally.reasons)}"]


def decision(bot, hand, seat, fits):
    answer, drawn = bot.answer(hand), bot.act(hand)
    numbers = hashlib.blake2b(answer.frequencies.tobytes(), digest_size=6)
    for one in bot.ranges(hand):
        numbers.update(one.tobytes())
    if bot.begins_subgame(hand) and fits:
        numbers.update(bot.best_values(hand, seat).tobytes())
    board, actions = "-".join(map(str, hand.board)), ",".join(answer.actions)
    return f"{hand.betting.line} {board} {drawn} of {actions} {answer.source} {numbers.hexdigest()}"


@pytest.mark.skipif(
    processor() not in RECORD["processors"], reason="other processors round sums in another order"
)
@pytest.mark.parametrize("case", RECORD["decisions"])
def test_bots_decide_what_they_decided(folders, case):
    game, how = case.split("; ")
    assert decisions(folders[game], how) == RECORD["decisions"][case]


if __name__ == "__main__":
    found = {}
    for name, hows in CASES.items():
        with TemporaryDirectory() as path:
            folder = folder_of(Path(path), GAMES[name], 100)
            found |= {f"{name}; {how}": decisions(folder, how) for how in hows}
    FILE.write_text(json.dumps({"processors": [processor()], "decisions": found}, indent=0) + "\n")
