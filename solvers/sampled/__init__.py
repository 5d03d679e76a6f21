"""The sampled engine: CFR over sampled boards for whole games whose boards share strategies by board bucket.

`engine.SampledCfr` learns; `judge.BoardJudge` computes best responses of single hands on all boards that can follow a
given board. The files in the order in which data flows: `batches` (betting lines, 16 to a vector), `program` (the
betting as lists of steps), `boards`, `numbers` (regrets and averages); the steps on one board in `links`, `segments`,
`reach`, `folds`, `showdowns`, `update`, `respond` and `answer`; `passes` (from board to board), `context`, `engine`.

Words that the kernels of this package use:

- The *traverser* (``own`` in names) is the player for whom a pass computes values; the *opponent* is ``other``.
- A *batch of lines* is 16 betting lines of one round with equal betting trees; each line has one *lane* of 16.
- A *row* is a bucket of hands. A *board bucket* is a set of boards that share rows and strategies.
- A *slot* is one action of one decision of a player. A player's *sequence* at a node is the player's last slot on the
  way to the node, or 0 at the start of the round. Regrets are stored by slot, reach by sequence.
- An *ending* is a sequence of a player that leads to folds or to showdowns.
- The *reach at the start of a round* is a hand's reach when its line enters the round. Reach by sequence counts only
  the actions within the round. So a hand's reach at a node is the product of these two numbers.
- A *workspace* is one thread's arrays ("buffers") for a round. An *offset* counts numbers from the start of an array.
"""
