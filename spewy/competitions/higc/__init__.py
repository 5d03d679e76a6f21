"""The HIGC's protocol, which shows games as OpenSpiel's tensors, and who plays there."""
