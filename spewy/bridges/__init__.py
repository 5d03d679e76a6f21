"""Other programs: the protocol UPI, and spots and hands in the formats of other programs."""
