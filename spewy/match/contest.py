"""A `Contest` is a person's game against a stored strategy: it deals, plays the strategy, and reviews decisions.

In a `GameContest` a bot plays a whole game. In a `SpotContest` hands come from the ranges of solved spots, and a
`spewy.match.spots.SpotBot` plays the average strategy. The module also reads and writes actions in words.

**Spots.** The person can play the bets of the spot's betting tree only. A bet of another size could be translated to
the nearest size of the tree, but then the strategy would answer a bet that was not made, the chips of later rounds
would differ from those of the tree, and the EVs of the solve would not apply.

The solve knows the EV of every action of every hand exactly. So the cost of a decision is the EV of the hand's own mix
less the EV of the played action, without an estimate. The result without luck is AIVAT's estimate
(`spewy.match.aivat`), whose value function is here the EV of the solve. At a deal, and at a decision of the strategy,
the EV is the mean of the EVs that can follow. So the estimate is the EV of the person's seat at the root, less the
costs of the person's decisions.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np

from buckets.cards import cards_name
from spewy.bot.bot import Mix, Reveals
from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.game.lines import ACTION_WORDS, faces_bet, read_action, sized_words, wrong_word
from spewy.game.nodes import Node
from spewy.match.aivat import estimate
from spewy.match.hand_review import Decided, Judged, decided_in_spot, review_player
from spewy.match.opponents import opponent, pot_raise
from spewy.match.spots import Note, Spot, SpotBot, Spots, holds_spots
from spewy.match.table import (
    MOST_SEED,
    Dealt,
    Fault,
    Played,
    Seat,
    Step,
    Table,
    deals,
    decisions,
    hand_seed,
    look_ahead,
)
from spewy.match.table_view import TableView, round_action
from spewy.system.tools import Closing

if TYPE_CHECKING:
    from spewy.bot.options import Options

HELP = """fold, check, call
bet 300    bet so that you have put 300 chips into the pot in this hand
raise 300  raise so that you have put 300 chips into the pot in this hand
bet, raise without an amount: by the pot; in a limit game by the fixed amount
all-in     bet all of your chips
f, x, c, b, a are short for fold, check, check or call, bet and all-in, r for bet or raise; an empty line checks if that
is free"""
SPOT_HELP = """fold, check, call
bet 120    bet so that you have put 120 into the pot in this round
raise 336  raise to 336 in this round
all-in     bet all of your chips
f, x, c, b, a are short for fold, check, check or call, bet and all-in, r for bet or raise; an empty line checks if that
is free
Only the bets of the solved tree can be played."""

_WORDS = re.compile(r"(all[\s-]?in|[a-z]+)\s*(?:to\s+)?([0-9]*)")
_MOST_DIGITS = 18
_VERBS = {"all-in": "goes all-in"}


@dataclass(frozen=True)
class Choices:
    """The actions that a person can take at a decision.

    Attributes:
        actions: legal ACPC actions to offer, each bet size once.
        texts: the actions in words, such as ``raise to 300``.
        prompt: the actions and the range of other sizes in words, as a terminal shows them.
        bounds: smallest and largest legal total of a bet or raise, if every total between them can be played too;
            None: only `actions` can be played.
    """

    actions: tuple[str, ...]
    texts: tuple[str, ...]
    prompt: str
    bounds: tuple[int, int] | None = None


class Contest(Closing, ABC):
    """A person's game against a stored strategy.

    A caller plays a hand with `new_hand`, `act` whenever the strategy has to act, `judge` after the last action, and
    `end`. On the person's turn it may ask for `choices`, convert words by `read`, and `check` an action.

    Attributes:
        help: help text about the words that a person can type.
        spot: the spot of the current hand; None in a whole game.
    """

    help: ClassVar[str]
    bot: Reveals
    spot: Spot | None = None

    @property
    def unit(self) -> Unit:
        """Unit of the amounts that the person reads and types."""
        return CHIPS

    @property
    def pot(self) -> int:
        """Chips in the middle at the start of a hand, besides those that players put in."""
        return 0

    @abstractmethod
    def new_hand(self, number: int, person: int) -> tuple[Table, str]:
        """Deal hand ``number``, in which the person is player ``person``.

        Returns:
            The table at which the hand is played, and the person's position and cards in words.
        """

    def round_name(self, t: int) -> str:
        """Return the name of the table's round ``t``, such as "turn"."""
        return self.bot.game.round_names[t]

    def in_order(self, board: tuple[int, ...]) -> tuple[int, ...]:
        """Return the public cards in the order of board names: the cards of each round are sorted."""
        return self.bot.game.board_order(board)

    def view(self, hand: Hand, person: int) -> TableView:
        """Return the table of a hand as player ``person`` sees it."""
        rounds = range(hand.game.num_rounds)
        names = [self.round_name(t) for t in rounds]
        return TableView.of(
            hand.seen_by(person),
            person,
            self.unit,
            middle=self.pot,
            round_names=names,
            in_order=self.in_order,
        )

    def sized(self, hand: Hand, action: str) -> str:
        """Write an action at a state of the hand as buttons do: ``bet 60 % (120)``, ``raise to 300``."""
        return sized_words(round_action(hand.betting, action, self.unit, self.pot).label)

    def act(self, hand: Hand) -> str:
        """Return the strategy's action; ``hand`` is the hand as the strategy's player sees it."""
        return self.bot.act(hand)

    @abstractmethod
    def choices(self, hand: Hand) -> Choices:
        """Return the actions that the person can take now."""

    @abstractmethod
    def read(self, hand: Hand, text: str) -> str:
        """Convert a person's words to a legal ACPC action."""

    @abstractmethod
    def check(self, hand: Hand, action: str) -> None:
        """Check that the person can play an ACPC action."""

    @abstractmethod
    def told(self, hand: Hand, action: str) -> str:
        """Describe an action at a state of the hand, such as ``raises to 300``."""

    @abstractmethod
    def won(self, hand: Hand, person: int) -> float:
        """Return the chips that the person, who is player ``person``, has won in a finished hand."""

    @abstractmethod
    def judge(self, hand: Hand, person: int, *, failed: bool) -> Judged:
        """Compare the decisions of player ``person`` in a finished hand, which has all cards, with the strategy.

        Args:
            failed: whether the strategy failed at a decision, and another action was played in its place.
        """

    def end(self, hand: Hand, person: int) -> None:
        """Tell the strategy that the hand is over; ``person`` is the person's player number."""
        self.bot.hand_over(hand.seen_by(1 - person))

    @property
    def opened(self) -> tuple[Path, ...]:
        """Folders of the spots that are open now."""
        return ()

    def forget(self) -> None:
        if hasattr(self.bot, "forget"):
            self.bot.forget()

    def close(self) -> None:
        self.bot.close()


@runtime_checkable
class Offering(Protocol):
    """A bot that can list the actions of its betting tree without computing a strategy."""

    def actions(self, hand: Hand) -> tuple[str, ...]:
        """Return the ACPC actions that the bot's betting tree has at a state of a hand."""
        ...


class GameContest(Contest):
    """A person's game against a bot that plays a whole game.

    Args:
        bot: the bot; `close` closes it.
    """

    help = HELP

    def __init__(self, bot: Reveals, seed: int = 0) -> None:
        self.bot, self._seed = bot, seed
        self._deals: Iterator[Dealt] = deals(bot.game, seed)
        self._hand_seed = 0
        self._revealed: dict[str, tuple[Mix | None, dict[str, Mix]]] = {}
        stranger = Seat(opponent("call", bot.game))
        self._seats = (stranger, Seat(bot)), (Seat(bot), stranger)

    @property
    def game(self) -> Game:
        return self.bot.game

    def new_hand(self, number: int, person: int) -> tuple[Table, str]:
        dealt = next(self._deals)
        self._hand_seed, self._revealed = hand_seed(self._seed, number), {}
        table = Table(self.game, dealt)
        self.bot.new_hand(table.view(1 - person), 1 - person, self._hand_seed)
        place = "on the button" if person == 1 else "out of position"
        return table, f"{place}, with {cards_name(dealt.hole[person])}"

    def act(self, hand: Hand) -> str:
        """Return the bot's action, and remember the bot's strategy for `judge`."""
        public = replace(hand, hole=(None, None))
        assert public.to_act is not None
        self._revealed[public.betting.line] = self._strategies(public, 1 - public.to_act)
        return self.bot.act(hand)

    def choices(self, hand: Hand) -> Choices:
        """Return the actions to offer: those of the bot's betting tree, and all-in; any legal size can be played."""
        betting = hand.betting
        actions = self._offered(hand)
        texts = tuple(_infinitive(betting, action) for action in actions)
        bounds = None if betting.game.limit else betting.raise_bounds()
        return Choices(actions, texts, words_text(betting), bounds)

    def read(self, hand: Hand, text: str) -> str:
        return parse_words(hand.betting, text)

    def check(self, hand: Hand, action: str) -> None:
        hand.apply(action)

    def told(self, hand: Hand, action: str) -> str:
        return action_text(hand.betting, action)

    def won(self, hand: Hand, person: int) -> float:
        return hand.net()[person]

    def judge(self, hand: Hand, person: int, *, failed: bool) -> Judged:
        """Review the person's decisions (`spewy.match.hand_review`), and estimate the winnings by AIVAT."""
        review = review_player(self.bot, hand, person, self._hand_seed)
        steps = [
            Step(public, action, *self._revealed.get(public.betting.line, (None, {})))
            for public, action in decisions(hand)
        ]
        faults = (Fault(1 - person, "another action was played"),) if failed else ()
        known = (person == 1, person == 0)
        chips = estimate(Played(hand, tuple(steps), faults), known)
        return replace(review, without_luck=chips if person == 0 else -chips)

    def _strategies(self, public: Hand, person: int) -> tuple[Mix | None, dict[str, Mix]]:
        """Return the bot's strategy at a decision, and its strategies at states that may follow, by line."""
        try:
            mix = self.bot.strategy(public)
            return mix, look_ahead(self._seats[person], public, mix)
        except Exception:  # the hand goes on, and AIVAT takes the result as it is
            return None, {}

    def _offered(self, hand: Hand) -> tuple[str, ...]:
        betting = hand.betting
        folds = ("f",) if betting.can_fold else ()
        bounds = betting.raise_bounds()
        if bounds is None:
            return (*folds, "c")
        if betting.game.limit:
            return (*folds, "c", "r")
        totals = {bounds[1], *(int(action[1:]) for action in self._tree_actions(hand) if action[0] == "r")}
        return (*folds, "c", *(f"r{total}" for total in sorted(totals)))

    def _tree_actions(self, hand: Hand) -> tuple[str, ...]:
        if isinstance(self.bot, Offering):
            try:
                return self.bot.actions(replace(hand, hole=(None, None)))
            except Exception:  # the person can still type any size
                return ()
        bounds = hand.betting.raise_bounds()
        return () if bounds is None else (f"r{bounds[0]}",)


class SpotContest(Contest):
    """A person's game in the solved spots of a folder.

    Args:
        spots: the spots; `close` closes them.
    """

    help = SPOT_HELP
    spot: Spot

    def __init__(self, spots: Spots, seed: int = 0) -> None:
        if not 0 <= seed <= MOST_SEED:
            raise InputError(f"seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
        self._spots, self._seed = spots, seed
        self.spot = spots.first
        self.bot = SpotBot(self.spot)

    @property
    def unit(self) -> Unit:
        return self.spot.unit

    @property
    def pot(self) -> int:
        return self.spot.pot

    def new_hand(self, number: int, person: int) -> tuple[Table, str]:
        """Draw a board, both hands and the cards of later rounds, which follow from the seed and the number."""
        rng = np.random.default_rng([self._seed, number])
        self.spot = self._spots.draw(rng)
        self.bot = SpotBot(self.spot, str(number))
        table = self.spot.table(self.spot.deal(rng))
        self.bot.new_hand(table.view(1 - person), 1 - person, self._seed)
        place = "in position" if person == 1 else "out of position"
        cards = table.hand.hole[person]
        assert cards is not None
        stack = self.spot.config.stack
        behind = "" if stack is None else f", {self.unit.text(stack)} behind"
        return table, f"{place}, with {cards_name(cards)}{behind}"

    def round_name(self, t: int) -> str:
        return self.spot.round_names[t]

    def in_order(self, board: tuple[int, ...]) -> tuple[int, ...]:
        return self.spot.in_order(board)

    def choices(self, hand: Hand) -> Choices:
        """Return the actions of the spot's betting tree; no other sizes can be played."""
        node = self.spot.node(hand)
        texts = _texts(node)
        return Choices(tuple(action.acpc for action in node.actions), texts, ", ".join(texts))

    def read(self, hand: Hand, text: str) -> str:
        node = self.spot.node(hand)
        if not text.strip() and not hand.betting.can_fold:
            return "c"
        try:
            return node.actions[read_action(self.spot.config, node, text, "action")].acpc
        except InputError:
            why = wrong_word(text, faces_bet(node))
            if not why and any(map(str.isdigit, text)):
                why = "the solved tree has no other size"
            hint = f"; {why}" if why else ", or ? for help"
            raise InputError(f"{shown(text.strip())}: expected {', '.join(_texts(node))}{hint}") from None

    def check(self, hand: Hand, action: str) -> None:
        node = self.spot.node(hand)
        if all(action != each.acpc for each in node.actions):
            names = ", ".join(
                f"{each.acpc} ({text})" for each, text in zip(node.actions, _texts(node), strict=True)
            )
            raise InputError(f"action {shown(action)}: expected {names}; the solved tree has no other action")

    def told(self, hand: Hand, action: str) -> str:
        node = self.spot.node(hand)
        return label_text(next(each.label for each in node.actions if each.acpc == action))

    def won(self, hand: Hand, person: int) -> float:
        return self.spot.won(hand, person)

    def judge(self, hand: Hand, person: int, *, failed: bool) -> Judged:
        """Compare the person's decisions in a finished hand with the solved strategy.

        If ``failed`` is True, the strategy failed at a decision of its own, and the result without luck is unknown:
        the chips that the person won take its place.
        """
        own = hand.hole[person]
        assert own is not None
        decided = tuple(
            self._decided(public, action, person, own)
            for public, action in decisions(hand)
            if public.to_act == person
        )
        expected = self.spot.values[person]
        costs = [each.cost for each in decided]
        known = [cost for cost in costs if cost is not None]
        exact = not failed and len(known) == len(costs)
        without_luck = expected - sum(known) if exact else self.won(hand, person)
        return Judged(decided, self.spot.range_of(hand, 1 - person, own), without_luck, expected)

    @property
    def opened(self) -> tuple[Path, ...]:
        return self._spots.opened

    def forget(self) -> None:
        self._spots.forget()

    def close(self) -> None:
        self._spots.close()

    def _decided(self, public: Hand, action: str, person: int, own: tuple[int, ...]) -> Decided:
        decided = decided_in_spot(self.spot, public, action, person, own)
        return replace(decided, opponent_range=self.spot.range_of(public, 1 - person, own))


def _texts(node: Node) -> tuple[str, ...]:
    return tuple(str(action.label) for action in node.actions)


def open_contest(
    folder: str | Path, seed: int = 0, options: Options | None = None, note: Note | None = None
) -> Contest:
    """Open a person's game against the strategy in the folder of a whole game, of a spot, or of a batch of spots.

    Args:
        note: called with a line of text before and after dropped rounds of a spot are solved again.
    """
    from spewy.bot.agent import open_bot  # this import loads the solvers

    with ExitStack() as opened:
        contest: Contest
        if holds_spots(folder):
            contest = SpotContest(opened.enter_context(Spots(folder, note)), seed)
        else:
            contest = GameContest(opened.enter_context(closing(open_bot(folder, options))), seed)
        opened.pop_all()
        return contest


def _infinitive(betting: Betting, action: str) -> str:
    """Describe an action in the infinitive: ``raise to 300``, not ``raises to 300``; or ``all-in 20000``."""
    if action[1:] and betting.to_act is not None and int(action[1:]) >= betting.stack(betting.to_act):
        return f"all-in {action[1:]}"
    word, _, rest = action_text(betting, action).partition(" ")
    return f"{word.removesuffix('s')} {rest}".rstrip()


def parse_words(betting: Betting, text: str) -> str:
    """Convert a person's words to an ACPC action.

    >>> from spewy.game.gamefile import load_game
    >>> start = Betting.start(load_game("holdem.nolimit.2p.reverse_blinds"))
    >>> [parse_words(start, words) for words in ("call", "raise to 250", "r300", "r", "all-in", "f")]
    ['c', 'r250', 'r300', 'r300', 'r20000', 'f']
    """
    text = text.strip()
    match = _WORDS.fullmatch(text.lower() or "x")
    word, digits = (re.sub(r"\W", "", match[1]), match[2]) if match else ("", "")
    kinds = ACTION_WORDS.get(word, ())
    verb = _verb(betting)
    if verb in kinds:
        action = _raise(betting, verb, text, digits)
    elif digits:
        action = ""
    elif kinds == ("allin",) and not betting.game.limit:
        action = f"r{(betting.raise_bounds() or (0, 0))[1]}"
    elif ("call" if betting.can_fold else "check") in kinds:
        action = "c"
    else:
        action = "f" if kinds == ("fold",) else ""
    try:
        betting.apply(action)
    except InputError:
        must_call = kinds == ("check",) and betting.can_fold
        why = "there is a bet to call" if must_call else wrong_word(text, verb == "raise")
        hint = f"; {why}" if why else "" if action else ", or ? for help"
        raise InputError(f"{shown(text)}: expected {words_text(betting)}{hint}") from None
    return action


def words_text(betting: Betting) -> str:
    """Return the words that the player to act may use, such as ``fold, call, raise 200 to 20000``."""
    parts = ["fold", "call"] if betting.can_fold else ["check"]
    bounds, verb = betting.raise_bounds(), _verb(betting)
    if bounds is not None:
        parts.append(verb if betting.game.limit else f"{verb} {bounds[0]} to {bounds[1]}")
    return ", ".join(parts)


def action_text(before: Betting, action: str) -> str:
    """Describe in words an action at a state of the betting.

    >>> from spewy.game.gamefile import load_game
    >>> start = Betting.start(load_game("holdem.nolimit.2p.reverse_blinds"))
    >>> action_text(start, "c"), action_text(start.apply("c"), "c"), action_text(start, "r250")
    ('calls', 'checks', 'raises to 250')
    """
    if action == "f":
        return "folds"
    if action == "c":
        return "calls" if before.can_fold else "checks"
    total, highest = max(before.apply(action).spent), max(before.spent)
    return f"raises to {total}" if _verb(before) == "raise" else f"bets {total - highest} (to {total})"


def label_text(label: str) -> str:
    """Describe an action by its label in a solved tree, whose amounts count from the start of the round.

    >>> [label_text(label) for label in ("check", "bet 120", "raise to 336", "all-in 900")]
    ['checks', 'bets 120', 'raises to 336', 'goes all-in 900']
    """
    verb, _, amount = label.partition(" ")
    return f"{_VERBS.get(verb, f'{verb}s')} {amount}".rstrip()


def _verb(betting: Betting) -> str:
    """Return "raise" if there is a bet in this round, such as a blind; otherwise "bet"."""
    has_bet = betting.can_fold or (betting.round == 0 and not betting.game.has_antes)
    return "raise" if has_bet else "bet"


def _raise(betting: Betting, verb: str, text: str, digits: str) -> str:
    if betting.game.limit:
        if digits:
            raise InputError(f"{shown(text)}: type {verb} alone, since the game has fixed amounts")
        return "r"
    if digits:
        return f"r{int(digits[: _MOST_DIGITS + 1])}"
    least, most = betting.raise_bounds() or (0, 0)
    total = pot_raise(betting, 1.0) if most else 0
    if least < total == most:
        raise InputError(
            f"{shown(text)}: by the pot you would be all-in; type all-in, or {verb} and an amount"
        )
    return f"r{total}"
