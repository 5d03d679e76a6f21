"""CFR by sampled boards: classes of boards share rows, rows share regrets, and any betting tree is walked by tables.

`engine.SampledCfr` learns, `judge.BoardJudge` finds best responses of single hands on all boards below one. The files
in the order in which data flows: `strips` (lines of one shape, 16 to a vector), `program` (their steps), `boards` (what
is dealt), `numbers` (what is learnt), `kernels` (a strip on a board), `answer` (what a
strip's opponent would best do there), `passes` (boards below boards), `rig`, `engine`,
`judge`.
"""
