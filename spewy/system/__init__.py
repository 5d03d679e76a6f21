"""Tools for processes (a dead one costs its task only), clusters, signals and files."""
