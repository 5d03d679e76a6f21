"""Tools for processes, clusters, signals and files."""
