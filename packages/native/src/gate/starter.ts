import type { MessagePort } from "node:worker_threads";
import { encodeBpf } from "../libc/bpf.js";
import { loadLibc } from "../libc/libc.js";
import { createSpawn } from "../process/spawn.js";
import { openSpawnLock } from "../process/spawn-lock.js";
import { assembleGateFilter } from "./filter.js";
import { bindKernelCalls, ERRNO, type KernelCalls } from "./kernel-calls.js";
import type { FromStarter, StarterData, StartPlace, ToStarter } from "./messages.js";
import { ABIS, type Abi } from "./system-calls.js";

/** The holders of the spawn lock: the starters whose programs are judged, and are not. */
export const STARTER = 2;
const FREE_STARTER = 3;

/**
 * Starts programs on a thread whose filter they inherit. The thread has to outlive them: the wrapper of a sandbox ends with
 * the thread that started it.
 */
export function runStarter({ lock, starting, judges }: StarterData, port: MessagePort): void {
  const abi = ABIS[process.arch]!;
  const calls = bindKernelCalls(abi);
  const send = (message: FromStarter) => port.postMessage(message);
  // Where it is not allowed, nothing is started in a place of its own.
  const hasOwnPlace = calls.unshareDirectory() === 0;
  const installed = judges ? installFilter(abi, calls) : ({ type: "ready" } as const);
  if (installed.type === "failed") return send(installed);
  const spawn = createSpawn(loadLibc());
  const spawnLock = openSpawnLock(lock, judges ? STARTER : FREE_STARTER);
  const mark = new BigUint64Array(starting);
  port.on("message", (message: ToStarter) => {
    if (message.type === "close") return port.close();
    const { id, start, place } = message;
    spawnLock.acquire();
    Atomics.store(mark, 0, message.mark);
    const unmark = judges ? () => {} : markProcess(message.mark, calls);
    try {
      if (place !== undefined) enter(place, hasOwnPlace, calls);
      send({ type: "spawned", id, pid: spawn({ ...start, onExit: () => {} }) });
    } catch (error) {
      const { message: text, code } = error as NodeJS.ErrnoException;
      send({ type: "not_spawned", id, message: text, code });
    } finally {
      unmark();
      Atomics.store(mark, 0, 0n);
      spawnLock.release();
    }
  });
  send(installed);
}

/** Each start with a place of its own enters it; others name their directory, and get the umask of this process. @throws where it cannot */
function enter({ directory, umask }: StartPlace, isOwn: boolean, calls: KernelCalls): void {
  if (!isOwn) throw new Error("this thread cannot have a directory of its own");
  const entered = calls.changeDirectory(directory);
  if (entered !== 0) throw new Error(`its directory cannot be entered: errno ${-entered}`);
  calls.setUmask(umask);
}

/** Until the function that it returns is called, what this process starts carries the mark. */
function markProcess(mark: bigint, calls: KernelCalls): () => void {
  const own = new BigUint64Array(2);
  calls.getLimit(0, RLIMIT_LOCKS, own);
  calls.setLimit(0, RLIMIT_LOCKS, BigUint64Array.of(mark, own[1]!));
  return () => void calls.setLimit(0, RLIMIT_LOCKS, own);
}

/** sys/resource.h of Linux. */
const RLIMIT_LOCKS = 10;

/** linux/seccomp.h. */
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_NEW_LISTENER = 8;
const SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV = 32;

type Installed = Extract<FromStarter, { type: "listening" | "failed" }>;

/** Only for the calling thread, and for what it starts. */
function installFilter(abi: Abi, calls: KernelCalls): Installed {
  const denied = calls.setNoNewPrivileges();
  if (denied < 0) return { type: "failed", missing: "prctl", reason: `PR_SET_NO_NEW_PRIVS: errno ${-denied}` };
  const code = assembleGateFilter(abi);
  /** `struct sock_fprog`. */
  const program = Buffer.alloc(16);
  program.writeUInt16LE(code.length / INSTRUCTION_BYTES, 0);
  program.writeBigUInt64LE(calls.addressOf(code), 8);
  const install = (flags: number) =>
    calls.seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, program);
  const fd = install(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
  if (fd >= 0) return { type: "listening", fd, waitsKillable: true };
  // Linux before 5.19.
  const older = fd === -EINVAL ? install(0) : fd;
  if (older >= 0) return { type: "listening", fd: older, waitsKillable: false };
  return { type: "failed", missing: "seccomp", reason: explain(-older) };
}

const INSTRUCTION_BYTES = encodeBpf([[0, 0, 0, 0]]).length;

const EINVAL = 22;
const EBUSY = 16;

function explain(errno: number): string {
  if (errno === EBUSY) return "this process is already watched by such a filter";
  if (errno === EINVAL) return "the kernel has no filter that asks (Linux 5.0)";
  if (errno === ERRNO.EPERM || errno === ERRNO.EACCES) return "it is not allowed here, as in some containers";
  return `errno ${errno}`;
}
