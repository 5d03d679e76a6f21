"""Reads real hand histories with Spewy and with PokerKit, and counts the hands that either of them does not read.

    python -m benchmarks.studies.real_hands FOLDER

The folder holds text files of PokerStars and GGPoker. Public collections of real hands are the samples of open
trackers and parsers: ``regression-test-files`` of fpdb, ``SampleHandHistories`` of HandHistories.Parser. PokerKit reads
only PokerStars, so it gets hands of GGPoker with a first line of PokerStars. What Spewy reads is compared with
the room's own numbers: the pot in the summary, and the share of it that each player collected.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from itertools import pairwise
from pathlib import Path

from pokerkit import HandHistory

from benchmarks.command import as_command
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import LoggedHand, UnreadHand
from spewy.match.room_text import ROOM, read_rooms

GAMES = ("holdem.nolimit.2p.reverse_blinds", "holdem.limit.2p.reverse_blinds")
POT = re.compile(r"^Total pot [^0-9]*([0-9.,]*[0-9])", re.MULTILINE)
BIG_BLIND = re.compile(r"posts (?:the )?big blind [^0-9]*([0-9.,]*[0-9])")
COLLECTED = re.compile(r"^(.+?) collected [^0-9]*([0-9.,]*[0-9]) from ", re.MULTILINE)
STAKES = re.compile(r"\([^()/]*/[^0-9()/]*([0-9.,]*[0-9])[^()/]*(?:\([^()]*\))?[^()/]*\)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder with hand histories as text")
    folder = parser.parse_args().folder
    counts: Counter[tuple[str, str, str]] = Counter()
    for path in sorted(folder.rglob("*.txt")):
        for text in hands_of(path.read_text(encoding="utf-8-sig", errors="replace")):
            room = "GGPoker" if text.startswith("Poker Hand") else "PokerStars"
            ours = read(text)
            if isinstance(ours, LoggedHand):
                kind = "two players" if ours.origin is None else "two players on the flop"
                for fault in faults(ours, text):
                    print(f"{path.relative_to(folder)}: hand {ours.number}: {fault}")
            else:
                kind = "never two players after the flop" if ours.read else f"refused: {ours.reason}"
            counts[room, kind, "read" if is_read_by_pokerkit(text) else "not read"] += 1
    print("| room | Spewy | PokerKit | hands |\n|---|---|---|---|")
    for row, count in sorted(counts.items()):
        print(f"| {' | '.join(row)} | {count} |")


def hands_of(text: str) -> Iterator[str]:
    """Cut a file into hands, at the first line of each."""
    starts = [match.start() for match in ROOM.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        yield text[start:end].rstrip() + "\n"


def read(text: str) -> LoggedHand | UnreadHand:
    """Read a hand with Spewy, of no-limit or of limit hold'em."""
    limit = re.search(r"Hold'?em (?:Fixed )?Limit", text.partition("\n")[0])
    return next(read_rooms(load_game(GAMES[limit is not None]), text))


def is_read_by_pokerkit(text: str) -> bool:
    """Whether PokerKit reads the hand and plays it to its end."""
    text = re.sub(r"^Poker Hand #[A-Z]+", "PokerStars Hand #", text)
    with warnings.catch_warnings(), redirect_stderr(StringIO()):  # PokerKit prints what it raises
        warnings.simplefilter("ignore")  # of fields that PokerKit fills itself
        try:
            return any(list(hand) for hand in HandHistory.from_pokerstars(text, error_status=True))
        except Exception:  # of many kinds, each of which means that the hand is not read
            return False


def faults(hand: LoggedHand, text: str) -> Iterator[str]:
    """Yield a text for each difference from the room's numbers: of the pot, and of each player's share of the pot."""
    pot, posted = POT.search(text), BIG_BLIND.search(text) or STAKES.search(text)
    if pot is None or posted is None:
        return
    called = min(hand.hand.betting.spent)
    ours = 2 * called * number(posted[1]) / hand.big_blind
    if abs(ours - number(pot[1])) > 1e-6:
        yield f"pot {ours:g}, {pot[1]} in the summary"
    if hand.won() is None or not COLLECTED.search(text):
        return
    collected = Counter[str]()
    for name, chips in COLLECTED.findall(text):
        collected[name] += number(chips)
    for name, net in zip(hand.names, hand.hand.net(), strict=True):
        share = (1 + net / called) / 2
        if (
            abs(share * collected.total() - collected[name]) > number(posted[1]) / 9
        ):  # an odd cent has one owner
            yield f"{name} has {share:.0%} of the pot, {collected[name]:g} of {collected.total():g} in the text"


def number(text: str) -> float:
    return float(text.replace(",", ""))


if __name__ == "__main__":
    as_command(main)
