"""A command's trackers of semaphores end with it; a tracker that does not end is waited for a moment only."""

import json
import subprocess
import sys

CODE = """
import json, os, signal, sys, time
from joblib.externals.loky.backend import resource_tracker as loky
from multiprocessing import resource_tracker as python
from spewy.system import interrupts

interrupts.END_SECONDS = float(sys.argv[2])
interrupts.start_trackers()
numbers = [module._resource_tracker._pid for module in (loky, python)]
if sys.argv[1] == "paused":
    os.kill(numbers[0], signal.SIGSTOP)
begun = time.monotonic()
interrupts.end_trackers()
seconds = time.monotonic() - begun
left = [os.path.exists(f"/proc/{number}") for number in numbers]
for number, is_left in zip(numbers, left):
    if is_left:
        os.kill(number, signal.SIGKILL)
interrupts.end_trackers()  # there is nothing to end any more
print(json.dumps([seconds, left]))
"""


def ended(state, limit):
    """Seconds that the end took, and for loky's tracker and Python's whether it is left."""
    command = [sys.executable, "-c", CODE, state, str(limit)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert told.stderr == ""
    return json.loads(told.stdout)


def test_trackers_end():
    """A tracker that has just started imports joblib first, which takes seconds on a busy machine."""
    seconds, left = ended("running", 60)
    assert left == [False, False]
    assert seconds < 60


def test_a_paused_tracker_is_waited_for_a_moment_only():
    seconds, (left, _) = ended("paused", 0.5)
    assert left
    assert 0.5 < seconds < 20
