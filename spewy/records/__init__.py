"""What a solve keeps on disk: strategies, chunks, progress, the result."""
