"""Scripts that measure: `speed` has timings, `studies` has questions about methods, each with its answer.

Run a script by the name of its module, such as ``python -m benchmarks.speed.solve``.
"""
