"""CFR for any live game, in plain loops over any type of number: the judge of the other engines."""
