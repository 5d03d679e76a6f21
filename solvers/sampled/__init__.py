"""The sampled engine: CFR over sampled boards for whole games whose boards share strategies by board bucket.

`engine.SampledCfr` learns strategies; `judge.BoardJudge` computes best responses of single hands on all boards that can
follow a given board. The modules:

- `batches` puts betting lines into batches of 16, `program` has the betting as lists of steps.
- `boards` has the boards of a pass, `numbers` the regrets and averages, `views` the named tuples that kernels read.
- `links`, `segments`, `reach`, `folds`, `showdowns`, `update`, `respond` and `answer` are the steps on one board.
- `learn` has the passes over deals, of which `deals` makes one after another, and `passes` those over trees of boards.
- `context` has the buffers, `engine` the solver.

Words that the kernels of this package use:

- A *pass* goes over boards and computes the values of one player, the *traverser*, and in a deal with CFR-BR also those
  of its rival. In names, ``own`` is the traverser and ``other`` the opponent.
- A *batch of lines* is 16 betting lines of one round with equal betting trees; each line is one *lane* of the batch.
- A *row* is a bucket of hands. A *board bucket* is a set of boards that share rows and strategies.
- A *slot* is one action of one decision of a player; regrets are arrays over slots. A player's *sequence* at a node is
  the last slot that the player chose on the way to the node; sequence 0 says that the player has not acted yet in the
  round. Reach is an array over sequences.
- An *ending* is a sequence of a player that leads to folds or to showdowns.
- The *reach at the start of a round* is a hand's reach when its line enters the round. Reach by sequence counts only
  the actions within the round. So a hand's reach at a node is the product of these two numbers.
- A *workspace* is a thread's set of buffers for a round. An *offset* counts array elements from the start of a buffer.
"""
