"""Compare the hands of a file with a stored strategy: see `spewy.match.hand_review` for the cost of a decision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from buckets.cards import cards_name
from lockers import LockerError, holds_store
from spewy.bot.bot import Reveals
from spewy.errors import InputError, path_text, shown
from spewy.game.amounts import UnitName
from spewy.game.gamefile import Game
from spewy.game.hand import Hand, HoleCards
from spewy.match.acpc_text import LoggedHand, UnreadHand, parse_logged
from spewy.match.hand_review import Decided, decided_in_spot, review_hand
from spewy.match.log import hand_lines
from spewy.match.phh import SUFFIXES, read_phh
from spewy.match.score import MBB
from spewy.match.spot_hands import DEFAULT_TOLERANCE, HandInSpot, SpotHands
from spewy.match.spots import Note
from spewy.system.html import Printed, Table
from spewy.system.textfile import as_path, read_text

if TYPE_CHECKING:
    from spewy.bot.agent import LockerBot


def open_strategy(
    folder: str | Path, tolerance: float = DEFAULT_TOLERANCE, note: Note | None = None
) -> LockerBot | SpotHands:
    """Open a folder's stored strategy for reviews: a whole game, a spot, or several spots.

    Args:
        folder: folder of a solve, or a folder with the folders of spots, such as a batch.
        tolerance: largest difference between the ratios of stack to pot of a hand and a spot, as a share of the spot's;
            no effect for a whole game.
        note: called with a line of text before and after dropped rounds of a spot are solved again.

    Raises:
        InputError: the folder holds no solve.
        lockers.LockerError: the folder is damaged.
    """
    from spewy.bot.agent import LockerBot  # this import loads the solvers
    from spewy.bot.options import Options
    from spewy.look.folder import open_policy, open_strategies, solves_in, stored_job, strategy_folder

    folder = as_path(folder, "folder")
    inside = [] if holds_store(strategy_folder(folder)) else solves_in(folder)
    if inside:
        return SpotHands(inside, tolerance, note)
    with open_strategies(folder) as store:
        is_spot = stored_job(store, folder).spot is not None
    if is_spot:
        return SpotHands([folder], tolerance, note)
    return LockerBot(open_policy(folder), Options(resolve="never"))


def read_hands(game: Game, path: Path, *, own_stakes: bool = False) -> Iterator[LoggedHand | UnreadHand]:
    """Read the hands of a file: a Poker Hand History (``.phh`` or ``.phhs``), or else a log of the ACPC's dealer.

    Args:
        game: the game that was played.
        path: path of the file.
        own_stakes: whether hands of a Poker Hand History may have other blinds and stacks than the game.

    Returns:
        The hands; an `UnreadHand` with the reason in place of a hand that cannot be read.

    Raises:
        InputError: the file cannot be read, or no hand of the file can.
    """
    subject = f"file {path_text(path)}"
    text = read_text(path, subject)
    if path.suffix.lower() in SUFFIXES:
        read = read_phh(game, text, subject, own_stakes=own_stakes)
    else:
        read = _read_lines(game, text.splitlines())
    unread: list[LoggedHand | UnreadHand] = []
    for each in read:
        unread.append(each)
        if isinstance(each, LoggedHand):
            break
    if not unread:
        raise InputError(f"{subject} has no hands")
    last = unread[-1]
    if isinstance(last, UnreadHand):
        first = unread[0]
        assert isinstance(first, UnreadHand)
        only = "" if len(unread) == 1 else f"none of {len(unread):,} hands can be read; "
        raise InputError(f"{subject}: {only}hand {first.number}: {first.reason}")
    yield from unread
    yield from read


def _read_lines(game: Game, lines: Iterable[str]) -> Iterator[LoggedHand | UnreadHand]:
    """Read the hands of a log of the ACPC's dealer."""
    for number, line in hand_lines(lines):
        try:
            yield parse_logged(game, line)
        except InputError as error:
            named = re.match(r"STATE:([0-9]{1,10}):", line)
            yield UnreadHand(int(named[1]) if named else number, f"line {number}: {error}")


@dataclass(frozen=True)
class Fit:
    """How a decision of a hand fits the spot with which it is compared.

    Attributes:
        ratio: the hand's ratio of stack to pot at the start of the spot's round, divided by the spot's, less 1.
        size: size of the played bet or raise as a share of the pot after a call; None for other actions.
        distance: ``size`` less the size of the bet or raise of the spot's tree that stands for it.
        line_distance: largest absolute ``distance`` of the bets and raises in the spot before the decision.
        unit: unit of the amounts of the compared decision: that of the spot's job, such as "chips".
    """

    ratio: float
    size: float | None
    distance: float
    line_distance: float
    unit: UnitName = "chips"


@dataclass(frozen=True)
class Reviewed:
    """A decision from a file of hands, compared with the strategy.

    In a spot, the line, the actions and all amounts of ``decided`` are those of the spot, in the unit of its job; the
    cards are those of the hand.

    Attributes:
        number: number of the hand.
        name: name of the player.
        hole: cards of the player; None if unknown.
        decided: the comparison with the strategy.
        big_blind: big blind of the hand, in the unit of ``decided``.
        fit: how the decision fits the spot; None for a whole game.
    """

    number: int
    name: str
    hole: HoleCards
    decided: Decided
    big_blind: float
    fit: Fit | None = None


@dataclass(frozen=True)
class Skipped:
    """A hand that was not reviewed, or only in part.

    Attributes:
        number: number of the hand.
        reason: reason why the hand cannot be read, or why the stored strategy does not cover it.
        whole: whether no decision of the hand was reviewed.
        read: whether the hand could be read.
    """

    number: int
    reason: str
    whole: bool
    read: bool = True


@dataclass(frozen=True, repr=False)
class Review(Printed):
    """The comparison of several hands with a stored strategy.

    Attributes:
        hands: the hands that the stored strategy covers at least in part.
        decisions: the reviewed decisions of these hands.
        skipped: hands that cannot be read, lie outside of a spot, or leave it.
    """

    hands: tuple[LoggedHand, ...]
    decisions: tuple[Reviewed, ...]
    skipped: tuple[Skipped, ...] = ()

    def _table(self) -> Table:
        unit = next((each.fit.unit for each in self.decisions if each.fit is not None), "chips")
        columns = ("hand", "player", "board", "line", "action", f"cost ({unit})")
        rows = tuple(
            (
                str(each.number),
                each.name,
                cards_name(each.decided.board),
                each.decided.line,
                each.decided.action,
                each.decided.cost,
            )
            for each in self.decisions
        )
        title = (
            f"{len(self.hands):,} hands, {len(rows):,} decisions, {len(self.skipped):,} hands skipped or left"
        )
        return Table(title, columns, rows)


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
    strategy: Reveals | SpotHands, played: Iterable[LoggedHand | UnreadHand], name: str | None = None
) -> Review:
    """Review the decisions in several hands; a hand that cannot be reviewed is skipped, with the reason.

    Args:
        strategy: the strategy to compare with.
        played: the finished hands to review; hands that could not be read are skipped.
        name: name of the player to review; None: review all players.

    Raises:
        InputError: no player has the name.
    """
    covered, out, skipped, names = list[LoggedHand](), list[Reviewed](), list[Skipped](), set[str]()
    for logged in played:
        if isinstance(logged, UnreadHand):
            skipped.append(Skipped(logged.number, logged.reason, True, False))
            continue
        names.update(logged.names)
        if name is not None and name not in logged.names:
            continue
        before, reasons = len(out), []
        try:
            if logged.names[0] == logged.names[1]:
                raise InputError(f"both players have the name {shown(logged.names[0])}")
            players = [player for player in (0, 1) if name in (None, logged.names[player])]
            if isinstance(strategy, SpotHands):
                in_spot = strategy.enter(logged.hand)
                missing = {player: in_spot.missing(player) for player in players}
                reasons += [reason for reason in missing.values() if reason is not None]
                players = [player for player in players if missing[player] is None]
                out.extend(_in_spot(in_spot, logged, players))
            else:
                out.extend(_in_game(strategy, logged, players))
        except (InputError, LockerError) as error:
            reasons.append(str(error))
        is_whole = len(out) == before
        if reasons:
            skipped.append(Skipped(logged.number, "; ".join(reasons), is_whole))
        if not (reasons and is_whole):
            covered.append(logged)
    if name is not None and name not in names:
        raise InputError(f"player {shown(name)} is in no hand; choose one of {', '.join(sorted(names))}")
    return Review(tuple(covered), tuple(out), tuple(skipped))


def _in_game(strategy: Reveals, logged: LoggedHand, players: Sequence[int]) -> Iterator[Reviewed]:
    """Compare the decisions of some players in a hand with the strategy of a whole game."""
    for decided in review_hand(strategy, logged.hand, players):
        name, hole = logged.names[decided.player], logged.hand.hole[decided.player]
        yield Reviewed(logged.number, name, hole, decided, logged.big_blind)


def _in_spot(in_spot: HandInSpot, logged: LoggedHand, players: Sequence[int]) -> Iterator[Reviewed]:
    """Compare the decisions of some players in a hand with the strategy of a spot.

    Raises:
        NotInSpotError: the hand leaves the spot's tree.
    """
    spot, hole = in_spot.spot, in_spot.hole
    unit = spot.unit
    for move in in_spot.moves() if players else ():
        if move.player not in players:
            continue
        chips = decided_in_spot(spot, move.public, move.action, move.player, hole[move.player])
        decided = replace(
            chips,
            line=unit.line_text(chips.line),
            board=logged.hand.game.board_order(in_spot.own_cards(move.public.board)),
            action=unit.line_text(chips.action),
            actions=tuple(map(unit.line_text, chips.actions)),
            values=None if chips.values is None else tuple(value / unit.chips for value in chips.values),
            cost=None if chips.cost is None else chips.cost / unit.chips,
        )
        size = None if move.size is None else float(move.size)
        fit = Fit(float(in_spot.ratio), size, float(move.distance), float(move.line_distance), unit.name)
        name, cards = logged.names[move.player], logged.hand.hole[move.player]
        big_blind = float(logged.big_blind * in_spot.chips / unit.chips)
        yield Reviewed(logged.number, name, cards, decided, big_blind, fit)


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
            MBB * logged.hand.net()[logged.names.index(player)] / logged.big_blind
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
