"""The arrays of a solve and their keys in lockers."""
