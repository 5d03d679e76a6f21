"""Let a person play against a bot in words, and print what the bot would have done with the person's cards.

The module needs no terminal: the caller provides functions that ask for a line and print a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from buckets.cards import cards_name
from spewy.bot.bot import Reveals
from spewy.errors import InputError, error_line
from spewy.game.hand import Hand
from spewy.match.acpc_text import LoggedHand
from spewy.match.cards import Dealt, deals, hand_seed
from spewy.match.review import Decided, review_hand
from spewy.match.table import Table, decisions
from spewy.match.words import HELP, action_text, parse_words, words_text

LEAST_TOLD = 0.005
"""Smallest frequency of an action that a review mentions; the played action is always mentioned."""

Tell = Callable[[str], None]
Ask = Callable[[str], str | None]
"""Function that returns a line of input for a prompt, or None at the end of input."""


Review = Callable[[Reveals, Hand, Sequence[int], int], Sequence[Decided]]
"""Function that reviews decisions, given a bot, a finished hand, the players to review, and the hand's seed."""


class Terminal:
    """A person at a table with a bot.

    Args:
        bot: the other player.
        ask: asks the person for a line.
        tell: prints a text for the person.
        log: called with the line of each finished hand in an ACPC log.
        review: reviews the person's decisions.
        seed: seed of the cards and of the bot's random choices.

    Attributes:
        hands: number of finished hands.
        chips: chips that the person has won.
    """

    def __init__(
        self, bot: Reveals, ask: Ask, tell: Tell, log: Tell, review: Review = review_hand, seed: int = 0
    ) -> None:
        self.hands = 0
        self.chips = 0
        self._bot, self._ask, self._tell, self._log, self._review = bot, ask, tell, log, review
        self._seed = seed

    def play(self, hands: int | None = None) -> None:
        """Play a number of hands, or until the end of input; an unfinished hand does not count."""
        for number, dealt in enumerate(islice(deals(self._bot.game, self._seed), hands)):
            if not self._hand(number, dealt):
                return

    def _hand(self, number: int, dealt: Dealt) -> bool:
        """Play a hand; return False if the input ended before the hand."""
        person, table = (number + 1) % 2, Table(self._bot.game, dealt)
        self._bot.new_hand(table.view(1 - person), 1 - person, hand_seed(self._seed, number))
        place = "on the button" if person == 1 else "out of position"
        self._tell(f"\nHand {number + 1}: {place}, with {cards_name(dealt.hole[person])}")
        while (player := table.to_act) is not None:
            before = table.hand.betting
            action = self._asked(table) if player == person else self._bots(table.view(player))
            if action is None:
                return False
            self._tell(f"{'You' if player == person else 'The bot'}: {action_text(before, action)}")
            for board in table.step(action):
                self._tell_board(table, board)
        self._over(table.hand, number, person)
        return True

    def _tell_board(self, table: Table, board: tuple[int, ...]) -> None:
        game = self._bot.game
        name = game.round_names[game.board_sizes.index(len(board))].capitalize()
        self._tell(f"{name}: {cards_name(game.board_order(board))}, pot {sum(table.hand.betting.spent)}")

    def _asked(self, table: Table) -> str | None:
        """Ask the person for a legal action; None at the end of input."""
        betting, player = table.hand.betting, table.to_act
        assert player is not None
        due = max(betting.spent) - betting.spent[player]
        price = f", {due} to call" if due else ""
        while (line := self._ask(f"Pot {sum(betting.spent)}{price}; {words_text(betting)} > ")) is not None:
            if line.strip() in ("?", "help"):
                self._tell(f"{HELP}\nBetting so far: {betting.line or 'none'}")
                continue
            try:
                return parse_words(betting, line)
            except InputError as error:
                self._tell(str(error))
        return None

    def _bots(self, hand: Hand) -> str:
        """Ask the bot for a legal action; check or fold if the bot fails."""
        try:
            action = self._bot.act(hand)
            hand.apply(action)
        except Exception as error:  # any error of the bot must not end the hand
            self._tell(f"WARNING: the bot failed: {error_line(error)}")
            return hand.betting.passive
        return action

    def _over(self, hand: Hand, number: int, person: int) -> None:
        won = hand.net()[person]
        self.hands += 1
        self.chips += won
        held = hand.hole[1 - person]
        shown = (
            "" if hand.betting.folded is not None or held is None else f"The bot shows {cards_name(held)}. "
        )
        result = f"You win {won}" if won > 0 else f"You lose {-won}" if won < 0 else "Nobody wins"
        self._tell(f"{shown}{result}; {self.chips:+d} after {self.hands}")
        first, second = ("You", "Bot") if person == 0 else ("Bot", "You")
        self._log(LoggedHand(number, hand, (first, second)).text)
        for text in self._verdicts(hand, number, person):
            self._tell(f"  {text}")
        self._bot.hand_over(hand.seen_by(1 - person))

    def _verdicts(self, hand: Hand, number: int, person: int) -> list[str]:
        try:
            verdicts = self._review(self._bot, hand, (person,), hand_seed(self._seed, number))
        except Exception as error:  # any error of the review must not prevent the next hand
            return [f"WARNING: no review: {error_line(error)}"]
        return [verdict_text(hand, verdict) for verdict in verdicts]


def verdict_text(hand: Hand, verdict: Decided) -> str:
    """Describe the review of one decision in words."""
    state = next(before for before, _ in decisions(hand) if before.betting.line == verdict.line)
    done = action_text(state.betting, verdict.action)
    where = f"{hand.game.round_names[state.betting.round]} {verdict.line or '(first)'}: {done}"
    if verdict.frequencies is None:
        return where
    mix = dict(zip(verdict.actions, verdict.frequencies, strict=True))
    kept = {each: share for each, share in mix.items() if share >= LEAST_TOLD or each == verdict.action}
    plays = ", ".join(f"{action_text(state.betting, each)} {share:.0%}" for each, share in kept.items())
    cost = "" if verdict.cost is None else f"; cost {verdict.cost:z.2f} chips"
    other = "" if verdict.action in mix else " (an action that the strategy lacks)"
    return f"{where}{other}; the strategy {plays}{cost}"
