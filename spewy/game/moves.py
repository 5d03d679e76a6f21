"""What a job's bet sizes let a player do at a decision; `tree` builds with it and `count` counts with it."""

from spewy.game.betting import Betting
from spewy.game.sizing import Stake, bet_amounts
from spewy.game.treeconfig import TreeConfig

__all__ = ["is_donk", "raise_totals"]


def raise_totals(config: TreeConfig, state: Betting, base: int, donk: bool) -> list[int]:
    """List the totals since the root that the player to act may bet or raise to; none where a raise is not legal.

    Args:
        config: whose sizes.
        state: of the rules that `config` follows.
        base: what both had put in before this round.
        donk: whether the player starts a round after calling the last bet of the one before.
    """
    player, bounds = state.to_act, state.raise_bounds()
    if player is None or bounds is None:
        return []
    if state.game.limit:
        return [bounds[0]]
    highest = max(state.spent)
    # More than the smaller stack is never called; but rules may ask for more, and then the least of it.
    high = max(min(bounds[1], state.stack(1 - player)), bounds[0])
    stake = Stake(
        pot=config.pot + 2 * highest,
        faced=highest - base,
        low=bounds[0] - base,
        high=high - base,
        rounds_left=state.game.num_rounds - state.round,
        bets_before=state.num_raises,
    )
    row = config.sizes[state.round][player]
    sizes = row.raises if stake.faced else row.bet
    if donk and row.donk is not None:
        sizes = row.donk
    return [base + amount for amount in bet_amounts(sizes, stake, config.thresholds)]


def is_donk(before: Betting, after: Betting) -> bool:
    """Tell whether whoever called the last bet now starts a round, and so may bet into its maker."""
    called = before.to_act is not None and before.spent[before.to_act] < max(before.spent)
    return called and before.to_act == after.to_act
