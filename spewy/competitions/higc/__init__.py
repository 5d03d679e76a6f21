"""The HIGC, whose referee shows games as OpenSpiel's tensors: protocol, referee, and agents."""
