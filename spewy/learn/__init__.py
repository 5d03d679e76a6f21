"""Engines that improve chunks, and evaluators of their chance leaves."""
