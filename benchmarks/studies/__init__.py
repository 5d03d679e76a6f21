"""Questions about methods, each with the script that measured the answer; most write figures into ``docs/``."""
