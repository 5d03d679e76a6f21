"""Spewy: a chunk-based range-vs-range solver for heads-up poker."""
