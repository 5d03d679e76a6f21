"""CFR for any `LiveGame`, in plain loops and in single or double precision; tests compare the other engines with it."""
