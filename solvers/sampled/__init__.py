"""The sampled engine: CFR over sampled boards for whole games whose boards share strategies by board bucket.

`engine.SampledCfr` learns strategies; `judge.BoardJudge` computes best responses of single hands on all boards that can
follow a given board. The modules:

- `batches` puts betting lines into batches of 16, `program` has the betting as lists of steps.
- `numbers` has the regrets and averages, `quantise` strategies in bytes, `views` the named tuples that kernels read.
- `boards`, `segments`, `decisions` and `terminals` have the steps on one board: links to the board before, groups of
  hands, reach and regrets, values of folds, showdowns and hands.
- `learn` has the passes over deals. `respond` has best responses, and the passes over trees of boards.
- `engine` has the solver, with its buffers.

Words that the kernels of this package use:

- A *pass* goes over boards and computes the values of one player, the *traverser*, and in a deal with CFR-BR also those
  of its rival. In names, ``own`` is the traverser and ``other`` the opponent.
- A *batch of lines* is 16 betting lines of one round with equal betting trees; each line is one *lane* of the batch.
- A batch is *aligned* if its 16 lanes continue the lanes of one chance leaf of the previous round in order.
- A *row* is a bucket of hands. A *board bucket* is a set of boards that share rows and strategies.
- A *slot* is one action of one decision of a player; regrets are arrays over slots. A player's *sequence* at a node is
  the last slot that the player chose on the way to the node; sequence 0 says that the player has not acted yet in the
  round. Reach is an array over sequences.
- A *segment* is a run of hands of one row, in order of strength; a *level* is a run of segments linked by ties. A
  *group* of hands is a row, in the last round a segment.
- An *ending* is a sequence of a player that leads to folds or to showdowns.
- The *reach at the start of a round* is a hand's reach when its line enters the round. Reach by sequence counts only
  the actions within the round. So a hand's reach at a node is the product of these two numbers.
- A *workspace* is a thread's set of buffers for a round. An *offset* counts array elements from the start of a buffer.
"""
