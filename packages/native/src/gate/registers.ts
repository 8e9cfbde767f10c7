import type { KernelCalls } from "./kernel-calls.js";
import type { Notification } from "./listener.js";

/** `struct user_regs_struct` of x86-64. */
const REGISTERS = 27;
const at = {
  rbp: 4,
  rbx: 5,
  r10: 7,
  r8: 9,
  rax: 10,
  rcx: 11,
  rdx: 12,
  rsi: 13,
  rdi: 14,
  orig_rax: 15,
  rip: 16,
} as const;
const PTRACE_GETREGS = 12;
const PTRACE_SETREGS = 13;
const AT_EMPTY_PATH = 0x1000n;
/** `syscall` and `int 0x80`. */
const CALL_BYTES = 2n;
const NO_CALL = 0xffff_ffff_ffff_ffffn;

/** Of a stopped thread. Undefined if it is gone. x86-64. */
export function readCallRegisters(calls: KernelCalls, tid: number): BigUint64Array | undefined {
  const registers = new BigUint64Array(REGISTERS);
  return calls.ptrace(PTRACE_GETREGS, tid, calls.addressOf(registers)) === 0 ? registers : undefined;
}

/** A call to start what `image`, a descriptor of the thread, leads to. */
export interface ExecveatCall extends Pick<Notification, "argv" | "envp" | "abi"> {
  image: number;
  /** Address of an empty text. */
  empty: bigint;
}

/** Makes a stopped thread call `execveat` where its last call has just failed. */
export function writeExecveat(
  calls: KernelCalls,
  tid: number,
  registers: BigUint64Array,
  { image, empty, argv, envp, abi }: ExecveatCall,
): void {
  registers[at.rip]! -= CALL_BYTES;
  registers[at.orig_rax] = NO_CALL; // it is in no call that the kernel would restart
  registers[at.rax] = BigInt(abi.execveat);
  const order = abi.isInterrupt === true ? INTERRUPT_ORDER : CALL_ORDER;
  for (const [index, value] of [BigInt(image), empty, argv, envp, AT_EMPTY_PATH].entries()) {
    registers[at[order[index]!]] = value;
  }
  calls.ptrace(PTRACE_SETREGS, tid, calls.addressOf(registers));
}

const CALL_ORDER = ["rdi", "rsi", "rdx", "r10", "r8"] as const;
/** Of the i386 ABI. */
const INTERRUPT_ORDER = ["rbx", "rcx", "rdx", "rsi", "rdi"] as const;
