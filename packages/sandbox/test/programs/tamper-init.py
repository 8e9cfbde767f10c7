"""Within a sandbox, on x86-64: has its first process outlive the wrapper and lose its mark, then prints its own number and stays."""
import ctypes, os, resource, struct, sys, time

RLIMIT_LOCKS = 10
c = ctypes.CDLL(None, use_errno=True)
c.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
c.ptrace.restype = ctypes.c_long
SEIZE, INTERRUPT, GETREGS, SETREGS, SINGLESTEP, DETACH = 0x4206, 0x4207, 12, 13, 9, 17
PRCTL, PR_SET_PDEATHSIG = 157, 1
RAX, RSI, RDI, ORIG_RAX, RIP = 10, 13, 14, 15, 16
# As <sys/user.h> orders them: r15 … rip …
COUNT = 27


def call(request, data=None):
    if c.ptrace(request, 1, None, data) == -1:
        raise OSError(ctypes.get_errno(), "ptrace")


def by_trace():
    call(SEIZE)
    call(INTERRUPT)
    os.waitpid(1, 0x40000000)
    regs = (ctypes.c_ulonglong * COUNT)()
    call(GETREGS, ctypes.byref(regs))
    kept = (ctypes.c_ulonglong * COUNT)(*regs)
    # It waits in a system call: the instruction of two bytes is just behind.
    regs[RIP] -= 2
    regs[RAX], regs[ORIG_RAX], regs[RDI], regs[RSI] = PRCTL, 2**64 - 1, PR_SET_PDEATHSIG, 0
    call(SETREGS, ctypes.byref(regs))
    call(SINGLESTEP)
    os.waitpid(1, 0x40000000)
    kept[RIP] -= 2
    kept[RAX], kept[ORIG_RAX] = 61, 2**64 - 1  # wait4 again
    call(SETREGS, ctypes.byref(kept))
    call(DETACH)


# prctl(PR_SET_PDEATHSIG, 0), then pause() forever.
CODE = bytes.fromhex("b89d000000bf0100000031f631d24d31d24d31c00f05b8220000000f05ebf7")


def by_memory():
    pc = int(open("/proc/1/syscall").read().split()[-1], 16)
    with open("/proc/1/mem", "r+b", 0) as memory:
        memory.seek(pc)
        memory.write(CODE)
    if os.fork() == 0:  # an orphan, whose end wakes it
        os._exit(0) if os.fork() else os._exit(0)
    os.wait()
    time.sleep(0.2)


for way in (by_memory, by_trace):
    try:
        way()
        print(way.__name__, flush=True)
        break
    except OSError as error:
        print(way.__name__, error, file=sys.stderr, flush=True)
for pid in (1, os.getpid()):
    resource.prlimit(pid, RLIMIT_LOCKS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("tampered", flush=True)
time.sleep(300)
