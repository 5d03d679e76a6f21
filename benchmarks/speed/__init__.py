"""Timings of solves, kernels, decisions of bots, and stores."""
