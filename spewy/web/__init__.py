"""Pages in the browser: look at solutions, set up and solve jobs, play."""
