"""The Hidden Information Games Competition (HIGC), which shows games as OpenSpiel's tensors: referee and agents."""
