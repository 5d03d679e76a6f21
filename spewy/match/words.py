"""Read and write actions in words, for a person who plays."""

from __future__ import annotations

import re

from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.lines import ACTION_WORDS, action_words, wrong_word
from spewy.match.opponents import pot_raise

HELP = """fold, check, call
bet 300    bet so that you have put 300 chips into the pot in this hand
raise 300  raise so that you have put 300 chips into the pot in this hand
bet, raise without an amount: by the pot; in a limit game by the fixed amount
all-in     bet all of your chips
f, x, c, b, a are short for fold, check, check or call, bet and all-in, r for bet or raise; an empty line checks if that
is free"""

_WORDS = re.compile(r"(all[\s-]?in|[a-z]+)\s*(?:to\s+)?([0-9]*)")
_MOST_DIGITS = 18
_VERBS = {"all-in": "goes all-in"}


def parse_words(betting: Betting, text: str) -> str:
    """Convert a person's words to an ACPC action.

    >>> from spewy.game.gamefile import load_game
    >>> start = Betting.start(load_game("holdem.nolimit.2p.reverse_blinds"))
    >>> [parse_words(start, words) for words in ("Call", "raise to 250", "r300", "r", "all-in", "f")]
    ['c', 'r250', 'r300', 'r300', 'r20000', 'f']

    Raises:
        InputError: the words mean no legal action.
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

    >>> [label_text(label) for label in ("Check", "Bet(120)", "Raise(336)", "AllIn(900)")]
    ['checks', 'bets 120', 'raises to 336', 'goes all-in 900']
    """
    verb, _, amount = action_words(label).partition(" ")
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
