"""Where play can be: problems, boards, rounds of betting and their chunks; no results, no files of jobs."""
