"""Studies: each script measures the answer to a question about methods; most write figures into ``docs/``."""
