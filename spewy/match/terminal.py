"""Let a person play hands in a terminal: questions and answers in words.

The module needs no terminal: the caller provides functions that ask for a line and print a text.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from spewy.errors import InputError
from spewy.match.sitting import Event, Sitting

Tell = Callable[[str], None]
Ask = Callable[[str], str | None]
"""Function that returns a line of input for a prompt, or None at the end of input."""


def play_in_words(sitting: Sitting, ask: Ask, tell: Tell, hands: int | None = None) -> None:
    """Let a person play a number of hands, or until the end of input; an unfinished hand does not count.

    Args:
        sitting: the game in which the person plays.
        ask: asks the person for a line.
        tell: prints a text for the person.
        hands: number of hands; None: until the end of input.
    """
    for _ in count() if hands is None else range(hands):
        tell(_text(sitting.deal()))
        while sitting.in_play:
            while (event := sitting.advance()) is not None:
                tell(_text(event))
            if sitting.in_play:
                played = _asked(sitting, ask, tell)
                if played is None:
                    return
                tell(_text(played))


def _asked(sitting: Sitting, ask: Ask, tell: Tell) -> Event | None:
    """Ask the person for words until they mean a possible action; play it and return its event.

    Returns:
        The event of the action; None at the end of input.
    """
    turn = sitting.turn
    assert turn is not None
    while (line := ask(f"{turn.prompt} > ")) is not None:
        if line.strip() in ("?", "help"):
            tell(f"{sitting.help}\nBetting so far: {sitting.line or 'none'}")
            continue
        try:
            return sitting.say(line)
        except InputError as error:
            tell(str(error))
    return None


def _text(event: Event) -> str:
    if event.kind == "hand":
        return f"\n{event.text}"
    return f"  {event.text}" if event.kind in ("verdict", "score") else event.text
