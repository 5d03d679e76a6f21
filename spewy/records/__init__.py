"""The arrays and results of a solve, and their keys in lockers."""
