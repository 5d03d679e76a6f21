"""Names of the lockers and all keys except those of chunks, which `spewy.chunks.place` makes."""

PAYOFF, REGRET, STRATEGY, GUESS, META = "payoff", "regret", "strategy", "guess", "meta"

PLAY, LINES, CLASSES = "play", "lines", "classes"
"""Strategies by board bucket, lines that enter each round, and arrays of the board buckets (`strategy_locker`)."""

VISITS = "visits"
"""Number of visits of each board bucket (`spewy.records.bucket_numbers`)."""

JUDGED = "judged"
"""Best responses on first boards (`spewy.records.response_cache`)."""

LEAVES = "leaves"
"""Values of chance leaves (`spewy.records.leaves`)."""

TRACE_KEY, TARGET_KEY = b"trace|", b"trace|target"
"""Keys of a solve's checks, and of its target in the words of the job file."""

RESULT_KEY = b"result|"
"""The result of the last run without interruption, as JSON; the next run deletes it before its first sweep."""

DROPPED_KEY = b"dropped|"
"""Number of the first dropped round."""

NUMBERS_KEY = b"dropped|numbers"
"""Mark of a solve whose regrets and sums were dropped, so that it cannot go on."""

LEAVES_KEY = b"leaves|"
"""Number of sweeps after which all values of chance leaves were written."""

SWEEP_KEY = b"sweep|"
"""Number of finished sweeps or deals."""

SECONDS_KEY = b"sweep|seconds"
"""Seconds of work of a solve by dealt boards, all runs together."""

SAVED_KEY = b"saved|"
"""Size and progress of a strategy locker."""

MARK_KEY = b"mark|"
"""Mark that identifies the strategies of a cache (`spewy.records.marked_store`)."""
