"""Tables of the HIGC in tests: matches of OpenSpiel's games, told line by line."""

import sys

from spewy.competitions.higc.referee import Limits
from spewy.competitions.higc.session import Session
from spewy.competitions.higc.spiel import drawn_action, legal, with_actions
from spewy.competitions.higc.text import over_text, state_text
from spewy.match.connection import LocalChannel

QUICK = Limits(act=20.0, chance=0.0, prepare=20.0, leave=20.0, word=20.0)
"""Limits that no busy machine breaks."""

HOLDEM = (
    "universal_poker(betting={},numPlayers=2,numRounds=4,blind=100 50,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,stack=20000 20000,bettingAbstraction={},raiseSize=100 100 200 200,"
    "maxRaises=3 4 4 4)"
)


def lines_of(game, seat, choose, rng):
    """What one player hears in a match, in which `choose` plays both."""
    state, out = game.start(), [game.name, str(seat)]
    while not state.is_terminal():
        out.append(state_text(game.tensors(state, seat), legal(state, seat), game.dialect))
        if state.is_chance_node():
            state.apply_action(drawn_action(state.chance_outcomes(), rng.random()))
        else:
            with_actions(state, [choose(menu) if (menu := legal(state, each)) else None for each in (0, 1)])
    return [*out, over_text(state.returns()[seat], game.dialect)]


class Scripted:
    """An agent that says what it is told, whatever is legal."""

    def __init__(self, actions=()):
        self.actions = list(actions)
        self.states = []

    def new_match(self):
        """A match begins."""

    def see(self, state):
        self.states.append(state)

    def act(self, legal):
        return self.actions.pop(0) if self.actions else legal[0]

    def close(self):
        """Nothing is held."""


def local(agent, dialect="rules", seed=1, notes=None):
    """A player of this process; what goes wrong is added to a list."""
    session = Session(lambda game, seat: agent, dialect, [].append if notes is None else notes.append, seed)
    return LocalChannel("local", session.hear, session.close)


def program(folder, text, name="bot"):
    """The command of a Python program without site packages, which starts quickly."""
    path = folder / f"{name}.py"
    path.write_text(text)
    return f"{sys.executable} -S -E {path}"
