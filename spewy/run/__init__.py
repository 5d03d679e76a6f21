"""Run a solve: plan it, estimate its cost, let an engine work with saves and checks, and return the result."""
