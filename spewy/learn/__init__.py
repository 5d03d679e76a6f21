"""Engines that solve games by improving their chunks, and evaluators of the chunks' chance leaves."""
