import type { KernelCalls } from "./kernel-calls.js";
import type { ExecutingAbi } from "./system-calls.js";

/** A program that waits to be started. */
export interface Notification {
  /** For the answer. */
  id: bigint;
  /** The thread that called. */
  tid: number;
  /** -100 for the working directory. */
  directory: number;
  /** Addresses in the memory of the caller. */
  path: bigint;
  argv: bigint;
  envp: bigint;
  flags: number;
  abi: ExecutingAbi;
  pointerBytes: 4 | 8;
}

/** The end of a filter at which its callers are answered. */
export interface Listener {
  readonly fd: number;
  /** A caller whose turn it is; undefined if it is gone, or calls what is not understood. Waits for one if there is none. */
  receive(): Notification | undefined;
  /** Whether the caller still waits: what was read until then was its own. */
  isWaiting(id: bigint): boolean;
  /** The kernel goes on with the call. False if the caller is gone. */
  let(id: bigint): boolean;
  /** The call fails. */
  fail(id: bigint, errno: number): void;
  /** Gives the caller a copy of a descriptor. Returns its number there, or a negative errno. */
  give(id: bigint, fd: number, closesOnExec: boolean): number;
}

/** linux/seccomp.h: _IOWR('!', 0, struct seccomp_notif), _IOWR('!', 1, struct seccomp_notif_resp), _IOW('!', 2, __u64). */
const SECCOMP_IOCTL_NOTIF_RECV = 0xc0502100;
const SECCOMP_IOCTL_NOTIF_SEND = 0xc0182101;
const SECCOMP_IOCTL_NOTIF_ID_VALID = 0x40082102;
/** _IOW('!', 3, struct seccomp_notif_addfd). */
const SECCOMP_IOCTL_NOTIF_ADDFD = 0x40182103;
const SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1;
const O_CLOEXEC = 0o2000000;

/** Sizes of `struct seccomp_notif` and `struct seccomp_notif_resp`. */
const NOTIFICATION_BYTES = 80;
const RESPONSE_BYTES = 24;
const ADDITION_BYTES = 24;

const AT_FDCWD = -100;

export function createListener(fd: number, executing: readonly ExecutingAbi[], calls: KernelCalls): Listener {
  const received = Buffer.alloc(NOTIFICATION_BYTES);
  const response = Buffer.alloc(RESPONSE_BYTES);
  const asked = Buffer.alloc(8);
  const addition = Buffer.alloc(ADDITION_BYTES);
  const answer = (id: bigint, errno: number, flags: number): boolean => {
    response.fill(0);
    response.writeBigUInt64LE(id, 0);
    response.writeInt32LE(-errno, 16);
    response.writeUInt32LE(flags, 20);
    return calls.ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, response) === 0;
  };
  return {
    fd,
    receive() {
      received.fill(0);
      if (calls.ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, received) !== 0) return undefined;
      const notification = parseNotification(received, executing);
      // The filter names no other call.
      if (notification === undefined) answer(received.readBigUInt64LE(0), ENOSYS, 0);
      return notification;
    },
    isWaiting(id) {
      asked.writeBigUInt64LE(id, 0);
      return calls.ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, asked) === 0;
    },
    let: (id) => answer(id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE),
    fail: (id, errno) => void answer(id, errno, 0),
    give(id, given, closesOnExec) {
      addition.fill(0);
      addition.writeBigUInt64LE(id, 0);
      addition.writeUInt32LE(given, 12);
      addition.writeUInt32LE(closesOnExec ? O_CLOEXEC : 0, 20);
      return calls.ioctl(fd, SECCOMP_IOCTL_NOTIF_ADDFD, addition);
    },
  };
}

const ENOSYS = 38;

/** `struct seccomp_notif`; undefined for a call that starts no program. */
function parseNotification(bytes: Buffer, executing: readonly ExecutingAbi[]): Notification | undefined {
  const number = bytes.readUInt32LE(16);
  const architecture = bytes.readUInt32LE(20);
  const abi = executing.find(
    (each) => each.architecture === architecture && (each.execve === number || each.execveat === number),
  );
  if (abi === undefined) return undefined;
  const hasDirectory = number === abi.execveat;
  const argument = (index: number) => bytes.readBigUInt64LE(32 + index * 8);
  const first = hasDirectory ? 1 : 0;
  return {
    id: bytes.readBigUInt64LE(0),
    tid: bytes.readUInt32LE(8),
    directory: hasDirectory ? Number(BigInt.asIntN(32, argument(0))) : AT_FDCWD,
    path: argument(first),
    argv: argument(first + 1),
    envp: argument(first + 2),
    abi,
    flags: hasDirectory ? Number(BigInt.asUintN(32, argument(4))) : 0,
    pointerBytes: abi.pointerBytes,
  };
}
