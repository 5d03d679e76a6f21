"""What lockers hold of a solve: the only room that knows their names, keys and flat arrays."""
