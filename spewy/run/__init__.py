"""A solve from its plan and cost to its result."""
