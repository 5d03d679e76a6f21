"""Several solves: what they are, what each comes to, and running them side by side."""
