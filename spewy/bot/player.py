"""The bot that plays from lockers, and a hand of it told in single observations.

>>> from spewy import Player, open_bot
>>> with open_bot("results/limit", resolve="always") as bot:  # doctest: +SKIP
...     player = Player(bot)
...     player.new_hand("AsKh", seat=1, seed=7)
...     player.observe(player.act())
...     player.observe("c")
...     player.observe("Qs Jh 2h")
...     player.strategy().actions
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from buckets.cards import blocked, cards_name, parse_cards
from buckets.errors import CardError
from solvers.gadget import Gadget
from spewy.bot.book import Book
from spewy.bot.bot import Bot, Mix, Reveals
from spewy.bot.fallback import by_equity
from spewy.bot.options import Options, Resolve, Translation
from spewy.bot.ranges import Answer, Track
from spewy.bot.subgames import SubGames
from spewy.bot.tally import Counts, Tally, is_expected
from spewy.bot.translate import drawn
from spewy.errors import InputError, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.records.policy import Policy
from spewy.system.closing import Closing

LOG = logging.getLogger(__name__)


class LockerBot(Closing):
    """Plays a whole game from its lockers: a `spewy.bot.bot.Reveals`.

    The state, the seed and the lockers decide what the bot plays at a public state. If sub-games are solved to a time
    and not to a number of iterations, the machine's speed decides too.

    Args:
        policy: the stored strategy of a whole game; `close` closes it.
        options: how to play.

    Attributes:
        tally: the number of `act`'s decisions by source, and what failed.

    Raises:
        InputError: the lockers are those of a spot.
    """

    def __init__(self, policy: Policy, options: Options | None = None) -> None:
        self.options = options or Options()
        self._book = Book(policy)
        self._games = SubGames(self._book.config)
        self._seat, self._seed, self.tally = 0, 0, Tally()
        self._track = self._begun()

    @property
    def game(self) -> Game:
        """What is played."""
        return self._games.game

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """A hand begins; what was solved for another one is forgotten."""
        del hand
        self._seat, self._seed = seat, seed
        self._track.forget()
        self._track = self._begun()

    def act(self, hand: Hand) -> str:
        """A legal ACPC action of the player to act, drawn from what its hole cards do."""
        try:
            answer = self.answer(hand)
            action, source = self._drawn(hand, answer), answer.source
            hand.apply(action)
        except Exception as error:
            if self.options.strict and not is_expected(error):
                raise
            # An action has to come now; the tally and the log keep the reason.
            action, source = hand.betting.passive, "fallback"
            trace = not is_expected(error)
            LOG.error("line %r: played %s, for: %s", hand.betting.line, action, error, exc_info=trace)
            self.tally.failed(hand.betting.line, error)
        self.tally.sources[source] += 1
        return action

    def strategy(self, hand: Hand) -> Mix:
        """What the player to act would do with each hand.

        Raises:
            InputError: nobody acts, or the hand is of another game.
        """
        answer = self.answer(hand)
        live = np.flatnonzero(~blocked(self._book.hands, hand.board))
        return Mix(answer.actions, live, answer.frequencies[:, live])

    def answer(self, hand: Hand) -> Answer:
        """The same over all hands of the deck, and where it comes from.

        Raises:
            InputError: as `strategy`.
        """
        self._require_game(hand)
        if hand.to_act is None:
            raise InputError(f"hand {hand.betting.line!r}: expected a player to act, found none")
        return self._track.answer(self._track.at(hand))

    def warm_up(self) -> None:
        """Load what decisions need, and time a solve, so that the first decision takes no longer than later ones.

        An error is logged only; if it comes again in a decision, the tally counts that.
        """
        try:
            for _ in range(2):  # the times of the first run include loading
                self._games.pace.forget()
                self._play_once()
        except Exception as error:
            LOG.warning("warm-up: %s: %s", type(error).__name__, error, exc_info=not is_expected(error))

    def _play_once(self) -> None:
        """Play a hand by checks and calls, up to the first decision of the first round that is solved to the end."""
        mine, game = self.options, self.game
        resolve: Resolve = "never" if mine.resolve == "never" else "always"
        options = replace(mine, resolve=resolve, iterations=3, seconds=None, strict=False)
        track, hand = Track(self._book, self._games, options, 0, Tally()), Hand.start(game)
        by_equity(hand, self.start[0], 0)
        while not hand.is_over:
            if hand.to_deal:
                dealt = len(hand.board)
                hand = hand.deal(game.deck.cards[dealt : dealt + hand.to_deal])
            track.answer(track.at(hand))
            if hand.betting.round == min(options.first(game.num_rounds), game.num_rounds - 1):
                break
            hand = hand.apply("c")
        track.forget()

    @property
    def hands(self) -> np.ndarray:
        """``[hand of the deck, hole card]``."""
        return self._book.hands

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """``[hand of the deck]``, both players' ranges at the deal."""
        return self._book.start(0), self._book.start(1)

    def begins(self, hand: Hand) -> bool:
        """Whether a sub-game begins where a player is to act."""
        return self._track.begins(self._track.at(hand))

    def best_values(self, hand: Hand, player: int) -> np.ndarray:
        """``[hand of the deck]``: best responses of a player to what the other plays in the sub-game that begins here.

        As `spewy.bot.resolve.Resolved.best_values` has them.

        Raises:
            InputError: none begins here, or it cannot be solved.
            solvers.errors.SolverError: as `spewy.bot.resolve.resolve`.
        """
        return self._track.best_values(self._track.at(hand), player)

    def ranges(self, hand: Hand) -> tuple[np.ndarray, np.ndarray]:
        """``[hand of the deck]``, both players' reach at a public state, by what this bot plays."""
        self._require_game(hand)
        state = self._track.at(hand)
        return self._track.range(state, 0), self._track.range(state, 1)

    def hand_over(self, hand: Hand) -> None:
        """Nothing is learnt from it; what was solved is forgotten."""
        self._track.forget()

    def close(self) -> None:
        """Close the lockers."""
        self._book.close()

    def _begun(self) -> Track:
        return Track(self._book, self._games, self.options, self._seed, self.tally)

    def _require_game(self, hand: Hand) -> None:
        if replace(hand.game, name=self.game.name) != self.game:
            raise InputError(f"hand: expected one of {self.game.name!r}, found one of {hand.game.name!r}")

    def _drawn(self, hand: Hand, answer: Answer) -> str:
        player = hand.to_act
        held = None if player is None else hand.hole[player]
        if held is None:
            raise InputError("hand: expected a player to act whose hole cards are known, found none")
        mine = answer.frequencies[:, self.game.hand_number(held)]
        cuts = np.cumsum(mine)
        if not cuts[-1] > 0:
            raise InputError("strategy: expected frequencies that sum to 1, found none above 0")
        text = f"{self._seat}{hand.betting.line}{hand.board}"
        number = int(np.searchsorted(cuts, drawn(self._seed, text) * cuts[-1], side="right"))
        return answer.actions[min(number, len(cuts) - 1)]


class Player:
    """One seat of one hand after another, told what happens one thing at a time.

    Args:
        bot: who decides.
    """

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._hand: Hand | None = None
        self._seat = 0

    @property
    def hand(self) -> Hand:
        """As far as it was told.

        Raises:
            InputError: no hand has begun.
        """
        if self._hand is None:
            raise InputError("player: expected a hand that has begun, found none")
        return self._hand

    def new_hand(self, hole: str | tuple[int, ...], seat: int, seed: int = 0) -> None:
        """A hand begins.

        Args:
            hole: the player's own cards.
            seat: 0 acts first after the flop, 1 is the button.
            seed: of what is drawn at random.

        Raises:
            InputError: they are not cards of the game, or there is no such seat.
        """
        if seat not in (0, 1):
            raise InputError(f"seat: expected 0 or 1, found {shown(seat)}")
        cards = _cards("hole cards", hole)
        self._hand = Hand.start(self.bot.game, (cards, None) if seat == 0 else (None, cards))
        self._seat = seat
        self.bot.new_hand(self._hand, seat, seed)

    def observe(self, what: str | tuple[int, ...]) -> None:
        """An ACPC action of either player (the bot's own ones too), or public cards.

        Raises:
            InputError: it cannot come now.
        """
        hand = self.hand
        self._hand = hand.deal(_cards("board", what)) if hand.to_deal else hand.apply(str(what))
        if self._hand.is_over:
            self.bot.hand_over(self._hand)

    def act(self) -> str:
        """The bot's action, which is to be observed like any other.

        Raises:
            InputError: it is not this player's turn.
        """
        hand = self.hand
        if hand.to_act != self._seat:
            found = "nobody's" if hand.to_act is None else "the other player's"
            raise InputError(f"act after {hand.betting.line!r}: expected this player's turn, found {found}")
        return self.bot.act(hand)

    def strategy(self) -> Mix:
        """What the player to act would do with each hand.

        Raises:
            InputError: nobody acts, or the bot does not tell.
        """
        if not hasattr(self.bot, "strategy"):
            raise InputError("strategy: expected a bot that tells it, found one that does not")
        return cast("Reveals", self.bot).strategy(self.hand)


def open_bot(
    folder: str | Path,
    *,
    resolve: Resolve = "off-tree",
    rounds: int = 2,
    safe: bool | Gadget = False,
    iterations: int = Options.iterations,
    seconds: float | None = Options.seconds,
    translation: Translation = "random",
    threads: int = 1,
    strict: bool = False,
    ready: bool = True,
) -> LockerBot:
    """Open a bot that plays from the lockers of a whole game, while a job may go on improving them.

    Args:
        folder: the solve's, or a copy of its play locker alone.
        resolve: when sub-games are solved again; see `spewy.bot.options.Options`.
        rounds: how many of the last rounds may be re-solved.
        safe: whether re-solving may give the other player nothing, and how (`solvers.gadget`); True: "mixed".
        iterations: most iterations of a solve.
        seconds: time budget of one decision; None: no limit, which makes every decision repeatable.
        translation: how bets are read that the tree lacks.
        threads: threads of a solve.
        strict: whether errors of the program, such as a TypeError, are raised; if not, the bot counts the error and
            plays the stored strategy, or a check or a fold.
        ready: whether to compile, load and time now what decisions need, which takes a while.

    Raises:
        lockers.LockerError: nothing is there, or it is damaged.
        InputError: the lockers are not those of a whole game, or an argument cannot be.
    """
    gadget: Gadget | None = None if safe is False else "mixed" if safe is True else safe
    options = Options(resolve, rounds, gadget, iterations, seconds, translation, threads, strict=strict)
    bot = bot_of(folder, options)
    try:
        if ready:
            _make_ready(bot)
            bot.warm_up()
        return bot
    except BaseException:
        bot.close()
        raise


def bot_of(folder: str | Path, options: Options) -> LockerBot:
    """Open the bot of a folder, whatever has to be compiled for it later.

    Raises:
        lockers.LockerError, InputError: as `open_bot`.
    """
    from spewy.look.folder import open_policy

    with ExitStack() as opened:
        policy = opened.enter_context(open_policy(folder))
        bot = LockerBot(policy, options)
        opened.pop_all()
        return bot


def _make_ready(bot: LockerBot) -> None:
    """Compile what re-solving needs before the first hand, where it is not compiled yet."""
    from spewy.run.ready import make_ready

    game = bot.game
    if bot.options.resolve != "never" and game.num_hole_cards == 2:
        for n in range(1, min(bot.options.rounds, game.num_rounds - 1) + 1):
            make_ready("exact", n, False, LOG.info)


def _cards(subject: str, given: str | tuple[int, ...]) -> tuple[int, ...]:
    try:
        return parse_cards(given if isinstance(given, str) else cards_name(given))
    except CardError as error:
        raise InputError(f"{subject}: {error}") from None


_: type[Reveals] = LockerBot
__: type[Counts] = LockerBot
