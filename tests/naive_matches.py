"""Expected values of small games by walking through all that can happen."""

from dataclasses import replace

from stand_ins import all_deals, choices

from spewy.game.hand import Hand


def public(hand):
    return replace(hand, hole=(None, None))


def shares_of(bot, hand):
    """Actions of a bot that tells its strategy, and how often the player to act takes each with its cards."""
    mix = bot.strategy(public(hand))
    return zip(mix.actions, mix.of(hand.game.hand_number(hand.hole[hand.to_act])), strict=True)


def ends(hand, board, choose, weight=1.0, steps=()):
    """All ends of a hand, how likely each is, and the states and actions on the way."""
    if hand.is_over:
        yield weight, hand, steps
    elif hand.to_deal:
        yield from ends(hand.deal(board[: hand.to_deal]), board[hand.to_deal :], choose, weight, steps)
    else:
        for action, share in choose(hand):
            if share:
                step = (hand, action)
                yield from ends(hand.apply(action), board, choose, weight * share, (*steps, step))


def value(game, choose):
    """Chips that player 0 wins on average; ``choose(hand)`` gives actions and their frequencies."""
    deals = list(all_deals(game))
    total = 0.0
    for first, second, board in deals:
        for weight, hand, _ in ends(Hand.start(game, (first, second)), board, choose):
            total += weight * hand.net()[0]
    return total / len(deals)


def best_response(game, bot, player):
    """Chips that the best response to a bot wins as a player, on average."""
    deals = [(1.0, Hand.start(game, (first, second)), board) for first, second, board in all_deals(game)]

    def best(states):
        """Of states that the player cannot tell apart, weighted; all are at the same public state."""
        first = states[0][1]
        if first.is_over:
            return sum(weight * hand.net()[player] for weight, hand, _ in states)
        if first.to_deal:
            dealt = {}
            for weight, hand, board in states:
                dealt.setdefault(board[: hand.to_deal], []).append(
                    (weight, hand.deal(board[: hand.to_deal]), board[hand.to_deal :])
                )
            return sum(best(group) for group in dealt.values())
        if first.to_act == player:
            return max(
                best([(w, h.apply(action), b) for w, h, b in states]) for action in choices(first.betting)
            )
        after = {}
        for weight, hand, board in states:
            for action, share in shares_of(bot, hand):
                if share:
                    after.setdefault(action, []).append((weight * share, hand.apply(action), board))
        return sum(best(group) for group in after.values())

    own = {}
    for state in deals:
        own.setdefault(state[1].hole[player], []).append(state)
    return sum(best(group) for group in own.values()) / len(deals)
