"""The sampled engine: CFR over sampled boards for whole games whose boards share strategies by class.

`engine.SampledCfr` learns, `judge.BoardJudge` computes best responses of single hands on all boards below one.
The files in the order in which data flows: `batches` (betting lines of one shape, 16 to a vector), `program` (their
steps), `boards`, `numbers` (regrets and averages); the steps of a walk over one board in `links`, `segments`, `reach`,
`folds`, `showdowns`, `update`, `respond` and `answer`; `passes` (boards below boards), `context`, `engine`.
"""
