"""The bets and raises that a tree's bet sizes allow at a state of the betting."""

from spewy.game.betting import Betting
from spewy.game.sizing import Stake, bet_amounts
from spewy.game.treeconfig import TreeConfig

__all__ = ["may_donk", "raise_totals"]


def raise_totals(config: TreeConfig, state: Betting, put_in_before: int, donk: bool) -> list[int]:
    """List the bets and raises of the player to act, as totals in chips since the root; empty if none is legal.

    Args:
        config: the tree's configuration with the bet sizes.
        state: the betting so far, under the rules of `config`.
        put_in_before: chips that each player had put in before this round.
        donk: whether the player starts a round after calling the last bet of the round before.
    """
    player, bounds = state.to_act, state.raise_bounds()
    if player is None or bounds is None:
        return []
    if state.game.limit:
        return [bounds[0]]
    if config.max_raises is not None and state.num_raises >= config.max_raises:
        return []
    highest = max(state.spent)
    # Nobody can call more than the smaller stack, so no bet is larger, unless the rules ask for a larger raise.
    high = max(min(bounds[1], state.stack(1 - player)), bounds[0])
    stake = Stake(
        pot=config.pot + 2 * highest,
        faced=highest - put_in_before,
        low=bounds[0] - put_in_before,
        high=high - put_in_before,
        rounds_left=state.game.num_rounds - state.round,
        bets_before=state.num_raises,
    )
    sizes = config.sizes[state.round][player].sizes(stake.faced > 0, donk)
    return [put_in_before + amount for amount in bet_amounts(sizes, stake, config.thresholds)]


def may_donk(before: Betting, after: Betting) -> bool:
    """Tell whether the player who called the last bet of a round starts the next round, and so can donk.

    Args:
        before: the state before the call.
        after: the state after the call, at the start of the next round.
    """
    called = before.to_act is not None and before.spent[before.to_act] < max(before.spent)
    return called and before.to_act == after.to_act
