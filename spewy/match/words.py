"""Read and write actions in words, for a person who plays."""

from __future__ import annotations

import re

from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.lines import action_words
from spewy.match.opponents import pot_raise

HELP = """fold, check, call
raise 300  raise so that you have put 300 chips into the pot in this hand (or: bet 300)
raise      raise by the pot; in a limit game by the fixed amount (or: bet)
all-in     bet all of your chips
f, c, r    short for fold, call or check, and raise; an empty line checks if that is free"""

_WORDS = re.compile(r"([a-z-]+)\s*(?:to\s+)?([0-9]*)")
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
    match = _WORDS.fullmatch(text.strip().lower())
    word, digits = (match[1], match[2]) if match else ("", "")
    if word in ("f", "fold") and not digits:
        action = "f"
    elif word in ("c", "call", "k", "check") and not digits:
        action = "c"
    elif word in ("r", "raise", "b", "bet"):
        action = _raise(betting, digits)
    elif word in ("a", "all-in", "allin") and not digits and not betting.game.limit:
        action = f"r{(betting.raise_bounds() or (0, 0))[1]}"
    elif not text.strip() and not betting.can_fold:
        action = "c"
    else:
        raise InputError(f"{shown(text.strip())}: expected {words_text(betting)}, or ? for help")
    if word in ("k", "check") and betting.can_fold:
        raise InputError(f"check: expected {words_text(betting)}; there is a bet to call")
    try:
        betting.apply(action)
    except InputError:
        raise InputError(f"{shown(text.strip())}: expected {words_text(betting)}") from None
    return action


def words_text(betting: Betting) -> str:
    """Return the words that the player to act may use, such as ``fold, call, raise 200 to 20000``."""
    parts = ["fold", "call"] if betting.can_fold else ["check"]
    bounds, verb = betting.raise_bounds(), "bet" if _bets_first(betting) else "raise"
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
    return f"bets {total - highest} (to {total})" if _bets_first(before) else f"raises to {total}"


def label_text(label: str) -> str:
    """Describe an action by its label in a solved tree, whose amounts count from the start of the round.

    >>> [label_text(label) for label in ("Check", "Bet(120)", "Raise(336)", "AllIn(900)")]
    ['checks', 'bets 120', 'raises to 336', 'goes all-in 900']
    """
    verb, _, amount = action_words(label).partition(" ")
    return f"{_VERBS.get(verb, f'{verb}s')} {amount}".rstrip()


def _bets_first(betting: Betting) -> bool:
    """Tell whether a raise would be the first bet of the round; blinds of different sizes are a bet, too."""
    return not betting.can_fold and (betting.round > 0 or betting.game.has_antes)


def _raise(betting: Betting, digits: str) -> str:
    if betting.game.limit:
        if digits:
            raise InputError(f"raise {shown(digits)}: type raise alone, since the game has fixed amounts")
        return "r"
    if not digits:
        return f"r{pot_raise(betting, 1.0)}" if betting.raise_bounds() else "r0"
    return f"r{int(digits[: _MOST_DIGITS + 1])}"
