"""How chunks learn: play-down, leaves, visits, and the engines that sweep over all chunks."""
