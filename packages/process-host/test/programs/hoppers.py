"""Processes that hop: each ignores signals, starts the next in a session of its own, and ends. After 15 s they end, and make a file."""

import os
import signal
import sys
import time

END = time.monotonic() + 15
for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(name, signal.SIG_IGN)
print("ready", flush=True)
for _ in range(6):
    if os.fork() == 0:
        while time.monotonic() < END:
            os.setsid()
            time.sleep(0.0002)
            if os.fork():
                os._exit(0)
        open(sys.argv[1], "w").close()
        os._exit(0)
