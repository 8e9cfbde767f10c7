import type { MessagePort } from "node:worker_threads";
import { encodeBpf } from "../libc/bpf.js";
import { loadLibc } from "../libc/libc.js";
import { createSpawn } from "../process/spawn.js";
import { openSpawnLock } from "../process/spawn-lock.js";
import { assembleGateFilter } from "./filter.js";
import { bindKernelCalls, ERRNO, type KernelCalls } from "./kernel-calls.js";
import type { FromStarter, StarterData, ToStarter } from "./messages.js";
import { ABIS, type Abi } from "./system-calls.js";

/** The holder of the spawn lock. */
export const STARTER = 2;

/**
 * Starts programs on a thread whose filter they inherit. The thread has to outlive them: the wrapper of a sandbox ends with
 * the thread that started it.
 */
export function runStarter({ lock, starting }: StarterData, port: MessagePort): void {
  const abi = ABIS[process.arch]!;
  const send = (message: FromStarter) => port.postMessage(message);
  const installed = installFilter(abi, bindKernelCalls(abi));
  if (installed.type === "failed") return send(installed);
  const spawn = createSpawn(loadLibc());
  const spawnLock = openSpawnLock(lock, STARTER);
  const mark = new BigUint64Array(starting);
  port.on("message", (message: ToStarter) => {
    if (message.type === "close") return port.close();
    const { id, start } = message;
    spawnLock.acquire();
    Atomics.store(mark, 0, message.mark);
    try {
      send({ type: "spawned", id, pid: spawn({ ...start, onExit: () => {} }) });
    } catch (error) {
      const { message: text, code } = error as NodeJS.ErrnoException;
      send({ type: "not_spawned", id, message: text, code });
    } finally {
      Atomics.store(mark, 0, 0n);
      spawnLock.release();
    }
  });
  send(installed);
}

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
