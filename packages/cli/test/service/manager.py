"""Speaks the protocols of systemd to a service: passes a listening socket, and prints what the service tells it.

usage: manager.py WATCHDOG_USEC COMMAND...
Prints one line of JSON for the address, for each message, and for the exit; reads names of signals to send as lines of stdin.
"""
import json, os, signal, socket, sys, tempfile, threading

def say(kind, value):
    print(json.dumps({"kind": kind, "value": value}), flush=True)

watchdog, command = sys.argv[1], sys.argv[2:]
place = tempfile.mkdtemp()
told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
told.bind(place + "/notify")
listening = socket.create_server(("127.0.0.1", 0))
say("address", "127.0.0.1:%d" % listening.getsockname()[1])

def start():
    pid = os.fork()
    if pid != 0:
        return pid
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(listening.fileno(), 3, inheritable=True)
    env = dict(os.environ, NOTIFY_SOCKET=place + "/notify", LISTEN_FDS="1", LISTEN_FDNAMES="front", LISTEN_PID=str(os.getpid()))
    if watchdog != "0":
        env.update(WATCHDOG_USEC=watchdog, WATCHDOG_PID=str(os.getpid()))
    os.execvpe(command[0], command, env)

pid = start()

def listen():
    while True:
        say("message", told.recv(4096).decode().split("\n"))

def obey():
    global pid
    for line in sys.stdin:
        if line.strip() == "START":
            pid = start()
            waits.release()
        else:
            os.kill(pid, getattr(signal, "SIG" + line.strip()))
    os._exit(0)

waits = threading.Semaphore(1)
threading.Thread(target=listen, daemon=True).start()
threading.Thread(target=obey, daemon=True).start()
while True:
    waits.acquire()
    say("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
