"""The process and its surroundings: signals, worker processes, text files, the user's cache, failures by name."""
