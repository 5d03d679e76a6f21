"""CFR for any live game in plain loops over any number type; the other engines are tested against it."""
