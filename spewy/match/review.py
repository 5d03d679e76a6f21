"""Compare the hands of a file with a stored strategy: see `spewy.match.hand_review` for the cost of a decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lockers import holds_store
from spewy.bot.bot import Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards
from spewy.match.acpc_text import LoggedHand
from spewy.match.hand_review import Decided, review_hand
from spewy.match.log import read_log
from spewy.match.phh import SUFFIXES, read_phh
from spewy.match.score import MBB
from spewy.match.spot_strategy import NotInSpotError, SpotStrategy
from spewy.system.textfile import read_text

if TYPE_CHECKING:
    from spewy.bot.agent import LockerBot


def open_strategy(folder: str | Path) -> LockerBot | SpotStrategy:
    """Open a folder's stored strategy for reviews: a whole game, a spot, or a batch of spots.

    Raises:
        InputError: the folder holds no solve.
        lockers.LockerError: the folder is damaged.
    """
    from spewy.bot.agent import LockerBot  # this import loads the solvers
    from spewy.bot.options import Options
    from spewy.look.folder import open_policy, strategy_folder

    folder = Path(folder)
    folders = [folder]
    if folder.is_dir() and not holds_store(strategy_folder(folder)):  # a batch
        folders = sorted(each for each in folder.iterdir() if holds_store(strategy_folder(each))) or [folder]
    with ExitStack() as opened:
        policies = [opened.enter_context(open_policy(each)) for each in folders]
        is_spot = all(policy.problem.is_spot for policy in policies)
        if not is_spot and len(policies) > 1:
            raise InputError(
                f"folder {path_text(folder)} is a batch with a whole game in it; give the folder of one solve"
            )
        strategy = SpotStrategy(policies) if is_spot else LockerBot(policies[0], Options(resolve="never"))
        opened.pop_all()
        return strategy


def read_hands(game: Game, path: Path, *, own_stakes: bool = False) -> Iterator[LoggedHand]:
    """Read the hands of a file: a Poker Hand History (``.phh`` or ``.phhs``), or else a log of the ACPC's dealer.

    Args:
        game: the game that was played.
        path: path of the file.
        own_stakes: whether hands of a Poker Hand History may have other blinds and stacks than the game.

    Raises:
        InputError: the file cannot be read, has no hands, or has a hand that is impossible in the game.
    """
    subject = f"file {path_text(path)}"
    text = read_text(path, subject)
    if path.suffix.lower() in SUFFIXES:
        logged = read_phh(game, text, subject, own_stakes=own_stakes)
    else:
        logged = read_log(game, text.splitlines(), subject)
    first = next(logged, None)
    if first is None:
        raise InputError(f"{subject} has no hands")
    yield first
    yield from logged


@dataclass(frozen=True)
class Reviewed:
    """A decision from a file of hands, compared with the strategy.

    Attributes:
        number: number of the hand.
        name: name of the player.
        hole: cards of the player; None if unknown.
        decided: the comparison with the strategy.
        big_blind: big blind of the hand in chips.
    """

    number: int
    name: str
    hole: HoleCards
    decided: Decided
    big_blind: int


@dataclass(frozen=True)
class Skipped:
    """A hand that the stored strategy does not cover, or covers only up to some decision.

    Attributes:
        number: number of the hand.
        reason: reason why the strategy does not cover the hand.
        whole: whether no decision of the hand was reviewed.
    """

    number: int
    reason: str
    whole: bool


@dataclass(frozen=True)
class Review:
    """The comparison of several hands with a stored strategy.

    Attributes:
        hands: the hands that the stored strategy covers at least in part.
        decisions: the reviewed decisions of these hands.
        skipped: hands that lie outside of a spot, or leave it.
    """

    hands: tuple[LoggedHand, ...]
    decisions: tuple[Reviewed, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class Total:
    """Summary of one player's reviewed hands.

    The cost of a decision is the EV of the strategy's own frequencies less the EV of the played action.

    Attributes:
        hands: number of the player's hands.
        decisions: number of decisions with a known cost.
        cost: cost of all these decisions in mbb per hand; None if no cost is known.
        won: mean winnings in mbb per hand over the hands with a known result; None if no result is known.
    """

    hands: int
    decisions: int
    cost: float | None
    won: float | None


def review_hands(
    strategy: Reveals | SpotStrategy, played: Iterable[LoggedHand], name: str | None = None
) -> Review:
    """Review the decisions in several hands.

    Args:
        strategy: the strategy to compare with.
        played: the finished hands to review.
        name: name of the player to review; None: review all players.

    Raises:
        InputError: no player has the name, or both players of a hand have the same name.
    """
    covered, out, skipped, names = list[LoggedHand](), list[Reviewed](), list[Skipped](), set[str]()
    for logged in played:
        if logged.names[0] == logged.names[1]:
            raise InputError(
                f"hand {logged.number}: expected two players whose names differ, found {shown(logged.names[0])} twice"
            )
        names.update(logged.names)
        players = [player for player in (0, 1) if name in (None, logged.names[player])]
        n_before = len(out)
        try:
            for decided in review_hand(strategy, logged.hand, players) if players else ():
                player_name, hole = logged.names[decided.player], logged.hand.hole[decided.player]
                out.append(Reviewed(logged.number, player_name, hole, decided, logged.hand.game.big_blind))
        except NotInSpotError as error:
            skipped.append(Skipped(logged.number, str(error), len(out) == n_before))
            if len(out) == n_before:
                continue
        covered.append(logged)
    if name is not None and name not in names:
        raise InputError(f"player {shown(name)} is in no hand; choose one of {', '.join(sorted(names))}")
    return Review(tuple(covered), tuple(out), tuple(skipped))


def summary(review: Review, name: str | None = None) -> dict[str, Total]:
    """Return each player's summary by name; chips are converted to mbb with the big blind of each hand.

    Args:
        review: the reviewed hands.
        name: name of the only player to include; None: include all players.
    """
    known = sorted({each for logged in review.hands for each in logged.names})
    costs: dict[str, list[float]] = {each: [] for each in known if name in (None, each)}
    for each in review.decisions:
        if each.decided.cost is not None:
            costs[each.name].append(MBB * each.decided.cost / each.big_blind)
    out = {}
    for player, spent in costs.items():
        hands_of = [logged for logged in review.hands if player in logged.names]
        won = [
            MBB * logged.hand.net()[logged.names.index(player)] / logged.hand.game.big_blind
            for logged in hands_of
            if _is_known(logged.hand)
        ]
        mean = sum(won) / len(won) if won else None
        cost = sum(spent) / len(hands_of) if spent else None
        out[player] = Total(len(hands_of), len(spent), cost, mean)
    return out


def _is_known(hand: Hand) -> bool:
    """Whether the result of a hand is known: a player folded, or both players' cards are known."""
    return hand.betting.folded is not None or None not in hand.hole
