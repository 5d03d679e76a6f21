"""The HIGC's protocol, which shows games as OpenSpiel's tensors, and the agents that play by it."""
