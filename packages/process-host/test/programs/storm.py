"""Processes that run away: each starts the next in a session of its own, and ends. All end by themselves after some seconds."""

import os
import time

END = time.monotonic() + 5
print("ready", flush=True)
for _ in range(4):
    if os.fork() == 0:
        while time.monotonic() < END:
            os.setsid()
            time.sleep(0.0005)
            if os.fork():
                os._exit(0)
        os._exit(0)
time.sleep(300)
