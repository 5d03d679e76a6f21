"""Names of the lockers, and the keys that are not those of chunks (`spewy.chunks.place`)."""

PAYOFF, REGRET, STRATEGY, GUESS, META = "payoff", "regret", "strategy", "guess", "meta"

PLAY, LINES, CLASSES = "play", "lines", "classes"
"""Strategies by board bucket, lines that enter each round, and arrays of the board buckets (`strategy_locker`)."""

VISITS = "visits"
"""How often each class of boards was visited (`spewy.records.bucket_numbers`)."""

JUDGED = "judged"
"""What best responses found on first boards (`spewy.records.response_cache`)."""

LEAVES = "leaves"
"""What going on is worth at chance leaves (`spewy.records.leaves`)."""

TRACE_KEY, TARGET_KEY = b"trace|", b"trace|target"
"""Where the checks are, and what they were measured against: the target as the job file says it."""

RESULT_KEY = b"result|"
"""The result of the last run that was not interrupted, as JSON; gone as soon as another run starts to sweep."""

DROPPED_KEY = b"dropped|"
"""Where the number of the first dropped round is."""

NUMBERS_KEY = b"dropped|numbers"
"""There once a solve's regrets and sums were dropped, without which it cannot go on."""

LEAVES_KEY = b"leaves|"
"""Where the number of sweeps is after which all values of leaves were written."""

SWEEP_KEY = b"sweep|"
"""Where the number of finished sweeps is, or of deals."""

SECONDS_KEY = b"sweep|seconds"
"""Where a solve that deals boards keeps how long it worked, all runs together."""

SAVED_KEY = b"saved|"
"""Where a play locker tells of what it holds, and since when."""

MARK_KEY = b"mark|"
"""The mark of the strategies that a cache belongs to (`spewy.records.marked_store`)."""
