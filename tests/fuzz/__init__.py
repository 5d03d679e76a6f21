"""Fuzzing of the command line: seeded cases, each a few commands on odd input, and a judge of what came out.

``python -m fuzz`` (with ``tests`` on the path; ``make fuzz``) runs many, one worker process per core:

- `text`: odd values, and changes of texts by character and by token;
- `spots`: jobs that are right, at random;
- `pasted`: ranges, boards and files in the spellings of other programs, with the right weights;
- `mutate`: jobs that may be wrong, made from right ones;
- `damage`: what becomes of a folder of lockers; `foreign`: folders that are something else;
- `tables`: a dealer that sends odd lines to a bot; `slumbot`: a server of Slumbot's protocol that sends odd answers;
- `cases`: what a case runs; `case` knows its number, its folder and what it found;
- `judge`: exit codes, streams and JSON; `truth`: what a result must say whatever the job;
- `templates`: solved folders, which cases look at or damage copies of;
- `workers`: cases in processes, with a limit on their time.

A case is a function of its number, the seed and the templates.
"""
