"""What bots decided before their modules moved: recorded once, to the last bit, and compared by `test_bot_decisions`.

``python tests/bot_decisions.py`` records anew, for a change that is meant to change decisions.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from bot_games import LIMIT_GAME, NO_LIMIT_GAME, SHORT_GAME, any_action, dealt, folder_of
from moved import processor

from spewy.bot.agent import LockerBot, bot_of
from spewy.bot.options import Options
from spewy.game.hand import Hand

RECORD = Path(__file__).parent / "data/moves/bot.json"
MOST_BYTES = 200_000
"""Largest subgame of bots for which most subgames are too large."""
GAMES = {"limit": LIMIT_GAME, "no-limit": NO_LIMIT_GAME, "a chip behind": SHORT_GAME}
HOWS: dict[str, dict[str, Any]] = {
    "never": {"resolve": "never"},
    "never, likelier": {"resolve": "never", "translation": "likelier"},
    "off-tree": {"resolve": "off-tree"},
    "off-tree, mixed": {"resolve": "off-tree", "safe": "mixed"},
    "always": {"resolve": "always"},
    "always, cold": {"resolve": "always", "warm": False},
    "always, likelier": {"resolve": "always", "translation": "likelier"},
    "always, rivers": {"resolve": "always", "rounds": 1},
    "always, flops": {"resolve": "always", "rounds": 3},
    "mixed": {"resolve": "always", "safe": "mixed"},
    "mixed, flops": {"resolve": "always", "safe": "mixed", "rounds": 3},
    "cfr-d": {"resolve": "always", "safe": "cfr-d"},
    "too large": {"resolve": "always", "rounds": 3},
    "too large, mixed": {"resolve": "always", "safe": "mixed", "rounds": 3},
}
SEEDS = 8


def folders(path: Path) -> dict[str, Path]:
    """Folders of the solved games."""
    out = {}
    for name, game in GAMES.items():
        (path / name).mkdir()
        out[name] = folder_of(path / name, game, 100)
    return out


def decisions(folder: Path, how: str) -> list[str]:
    """Lines with the decisions of some hands: line, board, action, source, and a hash of frequencies and ranges."""
    out = []
    with bot_of(folder, Options(iterations=6, seconds=None, **HOWS[how])) as bot:
        if how.startswith("too large"):
            bot._builder.most_bytes = MOST_BYTES
        for seed in range(SEEDS):
            out += _hand(bot, seed, not how.startswith("too large"))
        failures = bot.tally.reasons
    return [*out, f"failures {dict(failures)}"]


def _hand(bot: LockerBot, seed: int, exact: bool) -> list[str]:
    rng, out = Random(seed), []
    hand, coming = dealt(bot.game, rng)
    bot.new_hand(hand, seed % 2, seed)
    while not hand.is_over:
        if hand.to_deal:
            new, coming = coming[: hand.to_deal], coming[hand.to_deal :]
            hand = hand.deal(new)
            continue
        seen = Hand(hand.betting, hand.hole, hand.board)
        answer, drawn = bot.answer(seen), bot.act(seen)
        numbers = hashlib.blake2b(answer.frequencies.tobytes(), digest_size=6)
        for one in bot.ranges(seen):
            numbers.update(one.tobytes())
        if bot.begins_subgame(seen) and exact:
            numbers.update(bot.best_values(seen, seed % 2).tobytes())
        board = "-".join(map(str, hand.board))
        out.append(
            f"{hand.betting.line} {board} {drawn} of {','.join(answer.actions)} {answer.source} {numbers.hexdigest()}"
        )
        hand = hand.apply(any_action(hand, rng))
    bot.hand_over(hand)
    return out


def main() -> None:
    """Record all decisions."""
    record = {}
    with TemporaryDirectory() as path:
        for name, folder in folders(Path(path)).items():
            for how in HOWS:
                record[f"{name}; {how}"] = decisions(folder, how)
    RECORD.write_text(json.dumps({"processors": [processor()], "decisions": record}, indent=0) + "\n")
    sys.stderr.write(f"{sum(map(len, record.values()))} lines\n")


if __name__ == "__main__":
    main()
