"""Processes, signals, files: the surroundings of a solve."""
