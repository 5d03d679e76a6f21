"""Timings (`speed`) and studies that answer a question each (`studies`).

Run a script by its module's name: ``python -m benchmarks.speed.solve``.
"""
