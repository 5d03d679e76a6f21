"""Names of the lockers, and keys of their entries; `spewy.chunks.layout` makes the keys of chunks."""

PAYOFF, REGRET, STRATEGY, GUESS, META = "payoff", "regret", "strategy", "guess", "meta"

PLAY, LINES, CLASSES = "play", "lines", "classes"
"""Lockers of strategies by board bucket, of lines, and of the arrays that define board buckets (`strategy_locker`)."""

VISITS = "visits"
"""Locker with the number of visits of each board bucket (`spewy.records.bucket_numbers`)."""

JUDGED = "judged"
"""Locker with best responses on first boards, in hold'em flops (`spewy.records.caches`)."""

LEAVES = "leaves"
"""Locker with the values at chance leaves (`spewy.records.chunks`)."""

TRACE_KEY, TARGET_KEY = b"trace|", b"trace|target"
"""Keys of a solve's checks, and of its target in the words of the job file."""

RESULT_KEY = b"result|"
"""Key of the result of the last run, as JSON. An interrupted run stores no result; a new run deletes the old one."""

CHOICE_KEY = b"choice|"
"""Key of what a choice among equilibria (``solve.choose``) has changed, as JSON."""

DROPPED_KEY = b"dropped|"
"""Key of the number of the first dropped round."""

QUICK_KEY = b"dropped|quick"
"""Key of the seconds of a quick solve (``solve.quick``), whose later rounds had other bets than the job."""

NUMBERS_KEY = b"dropped|numbers"
"""Key that marks a solve with dropped regrets and strategy sums, which cannot continue."""

LEAVES_KEY = b"leaves|"
"""Key of the number of sweeps after which all values at chance leaves were written."""

SWEEP_KEY = b"sweep|"
"""Key of the number of finished sweeps or deals."""

SECONDS_KEY = b"sweep|seconds"
"""Key of the seconds of work of a solve with board buckets, all runs together."""

SAVED_KEY = b"saved|"
"""Key of the size and progress of a strategy locker."""

MARK_KEY = b"mark|"
"""Key of the mark that identifies the strategies of a cache (`spewy.records.caches`)."""
