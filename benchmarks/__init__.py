"""Benchmarks: `speed` measures times; most scripts of `studies` compare methods of solving or playing.

Run a script by the name of its module, such as ``python -m benchmarks.speed.solve``.
"""
