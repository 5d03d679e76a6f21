"""Studies: most scripts compare methods of solving or playing, and write figures into ``docs/``."""
