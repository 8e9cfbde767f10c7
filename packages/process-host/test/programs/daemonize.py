"""Leaves its parent, its group and its session, as daemons do; prints its pid before the parent ends, and stays."""

import os
import time

child = os.fork()
if child:
    os.waitpid(child, 0)
    os._exit(0)
os.setsid()
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
os.environ.clear()
null = os.open("/dev/null", os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(null, fd)
time.sleep(300)
