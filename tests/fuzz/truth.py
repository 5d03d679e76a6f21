"""Rules for the result of any job: conservation of chips, targets, bounds."""

from collections.abc import Iterator
from typing import Any

from spewy.job.job import Job
from spewy.job.texts import parse_target, unit_chips

ROUNDING = 2e-4
"""Tolerances, in pots or big blinds: sums in single precision, and two averages of 16 bits."""
Found = dict[str, Any]


def unit(job: Job) -> float:
    """Chips that rounding is measured by."""
    return job.pot or job.rules.big_blind


def lies(job: Job, found: Found) -> Iterator[str]:
    """Return contradictions in the output of ``solve --json`` for a job with one board."""
    epsilon, allowed = found["exploitability"], ROUNDING * unit(job)
    amount, name = parse_target(job.solve.target)
    target = amount * unit_chips(job.rules, job.pot, name) / job.amounts.chips
    if epsilon is None:
        yield "expected an exploitability"
        return
    if epsilon < -allowed:
        yield f"expected an exploitability of at least 0, found {epsilon}"
    if found["converged"] != (epsilon <= target * (1 + 1e-9)):
        yield f"expected converged to say whether {epsilon} is at most {target}"
    if not found["converged"] and found["sweeps"] < job.last_sweep:
        yield f"expected {job.last_sweep} sweeps or the target, found {found['sweeps']}"
    if found["interrupted"] or found["name"] != job.name:
        yield "expected this job, not interrupted"
    steps = [(sweep, seconds) for sweep, seconds, _ in found["trace"]]
    if not steps or steps != sorted(steps) or steps[-1][0] != found["sweeps"]:
        yield f"expected a trace that goes on to the last sweep, found {steps}"
    yield from _wrong_shares(job, found, allowed) if job.spot else _wrong_value(found, allowed)


def dealt_lies(job: Job, found: Found) -> Iterator[str]:
    """Return contradictions in the output of ``solve --json`` for a job by sampled boards."""
    epsilon, allowed = found["exploitability"], ROUNDING * unit(job)
    amount, name = parse_target(job.solve.target)
    target = amount * unit_chips(job.rules, 0.0, name)
    assert job.dealing is not None
    if epsilon is None or epsilon < -allowed:
        yield f"expected an exploitability of at least 0, found {epsilon}"
        return
    if found["converged"] != (epsilon <= target):
        yield f"expected converged to say whether {epsilon} is at most {target}"
    if job.dealing.last_deal is not None and found["sweeps"] > job.dealing.last_deal:
        yield f"expected at most {job.dealing.last_deal} deals, found {found['sweeps']}"
    if found["interrupted"] or found["name"] != job.name:
        yield "expected this job, not interrupted"
    deals = [deals for deals, _, _ in found["trace"]]
    if not deals or deals != sorted(deals) or deals[-1] != found["sweeps"]:
        yield f"expected checks up to the last deal, found {deals}"


def _wrong_shares(job: Job, found: Found, allowed: float) -> Iterator[str]:
    assert job.spot is not None
    most = _most_rake(job)
    total = sum(found["ev"])
    if not job.spot.pot - most - allowed <= total <= job.spot.pot + allowed:
        yield f"expected EVs that sum to {job.spot.pot}, less at most {most} of rake, found {found['ev']}"
    least, largest = -job.spot.stack - allowed, job.spot.pot + job.spot.stack + allowed
    if not all(least <= ev <= largest for ev in found["ev"]):
        yield f"expected EVs between what can be lost and won, found {found['ev']}"
    share = found["equity"]
    if abs(sum(share) - 1) > 1e-9 or not all(-1e-9 <= each <= 1 + 1e-9 for each in share):
        yield f"expected equities that sum to 1, found {share}"


def _wrong_value(found: Found, allowed: float) -> Iterator[str]:
    low, high = found["value_bracket"]
    if not low - allowed <= found["value"] <= high + allowed:
        yield f"expected a value between {low} and {high}, found {found['value']}"


def _most_rake(job: Job) -> float:
    assert job.spot is not None
    if job.spot.rake is None:
        return 0.0
    most = job.spot.rake.rate * (job.spot.pot + 2 * job.spot.stack)
    return most if job.spot.rake.cap is None else min(most, job.spot.rake.cap)


def same_value(job: Job, one: Found, other: Found) -> Iterator[str]:
    """Return contradictions between two solves of one game: each EV is within twice its exploitability of the value."""
    if job.spot is None or job.spot.rake is not None:
        return
    apart = abs(one["ev"][0] - other["ev"][0])
    most = 2 * (one["exploitability"] + other["exploitability"]) + ROUNDING * unit(job)
    if apart > most:
        yield f"expected EVs at most {most} apart, found {one['ev']} and {other['ev']}"
    if abs(one["equity"][0] - other["equity"][0]) > 1e-6:
        yield f"expected the same equity, found {one['equity']} and {other['equity']}"


def same_exploitability(job: Job, solved: Found, measured: Found) -> Iterator[str]:
    """Return contradictions between ``solve`` and ``exploit`` about one strategy."""
    apart = abs(solved["exploitability"] - measured["exploitability"])
    if apart > ROUNDING * unit(job) * (1 + (job.spot.stack / job.spot.pot if job.spot else 0)):
        yield (
            f"expected exploit to find the solve's exploitability {solved['exploitability']}, "
            f"found {measured['exploitability']}"
        )
    if solved["sweeps"] != measured["sweeps"]:
        yield f"expected exploit to find {solved['sweeps']} sweeps, found {measured['sweeps']}"


def wrong_hands(shown: Found) -> Iterator[str]:
    """Return contradictions in the output of ``show --json``."""
    for hand, row in shown["hands"].items():
        if abs(sum(row["strategy"]) - 1) > 1e-4 or min(row["strategy"]) < -1e-6:
            yield f"expected frequencies of {hand} that sum to 1, found {row['strategy']}"
        if row["equity"] is not None and not -1e-6 <= row["equity"] <= 1 + 1e-6:
            yield f"expected an equity of {hand} in 0..1, found {row['equity']}"
        if None not in (row["ev"], *row["action_ev"]):
            mean = sum(f * ev for f, ev in zip(row["strategy"], row["action_ev"], strict=True))
            if abs(mean - row["ev"]) > 1e-3 * (1 + max(map(abs, row["action_ev"]))):
                yield f"expected the EV of {hand} to be that of its actions, found {row}"
