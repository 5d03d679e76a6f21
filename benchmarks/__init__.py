"""Benchmarks: `speed` measures times; each script of `studies` measures the answer to a question about methods.

Run a script by the name of its module, such as ``python -m benchmarks.speed.solve``.
"""
