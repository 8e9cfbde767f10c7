import type { KernelCalls } from "./kernel-calls.js";
import type { Notification } from "./listener.js";

/** A call to start what `image`, a descriptor of the thread, leads to. */
export interface ExecveatCall extends Pick<Notification, "tid" | "argv" | "envp" | "abi"> {
  image: number;
  /** Address of an empty text. */
  empty: bigint;
}

/** Whether `callExecveat` can be used for a caller with this ABI. */
export const canCallExecveat = (architecture: string, { pointerBytes }: Notification["abi"]): boolean =>
  architecture === "x64" || (architecture === "arm64" && pointerBytes === 8);

/** Makes a stopped thread call `execveat` where its last call has just failed. Nothing happens if it is gone. */
export function callExecveat(calls: KernelCalls, architecture: string, call: ExecveatCall): void {
  const words = [BigInt(call.image), call.empty, call.argv, call.envp, AT_EMPTY_PATH];
  if (architecture === "x64") callOnX64(calls, call, words);
  else callOnArm64(calls, call, words);
}

const AT_EMPTY_PATH = 0x1000n;

function callOnX64(calls: KernelCalls, { tid, abi }: ExecveatCall, words: readonly bigint[]): void {
  const registers = x64Registers;
  const address = calls.addressOf(registers);
  if (calls.ptrace(PTRACE_GETREGS, tid, address) !== 0) return;
  registers[X64.rip]! -= 2n; // `syscall`, or `int 0x80`
  registers[X64.orig_rax] = NO_CALL; // it is in no call that the kernel would restart
  registers[X64.rax] = BigInt(abi.execveat);
  const order = abi.isInterrupt === true ? I386_ORDER : X64_ORDER;
  for (const [index, word] of words.entries()) registers[X64[order[index]!]] = word;
  calls.ptrace(PTRACE_SETREGS, tid, address);
}

/** `struct user_regs_struct` of x86-64. Read by its address, and so referenced as long as this code. */
const x64Registers = new BigUint64Array(27);
const X64 = {
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
const X64_ORDER = ["rdi", "rsi", "rdx", "r10", "r8"] as const;
const I386_ORDER = ["rbx", "rcx", "rdx", "rsi", "rdi"] as const;
const PTRACE_GETREGS = 12;
const PTRACE_SETREGS = 13;
const NO_CALL = 0xffff_ffff_ffff_ffffn;

/** The number of the call is read from x8 when it is made again. */
function callOnArm64(calls: KernelCalls, { tid, abi }: ExecveatCall, words: readonly bigint[]): void {
  const registers = arm64Registers;
  arm64Part[0] = calls.addressOf(registers);
  arm64Part[1] = BigInt(registers.byteLength);
  const address = calls.addressOf(arm64Part);
  if (calls.ptrace(PTRACE_GETREGSET, tid, address, NT_PRSTATUS) !== 0) return;
  registers[ARM64_PC]! -= 4n; // `svc`
  registers[8] = BigInt(abi.execveat);
  for (const [index, word] of words.entries()) registers[index] = word;
  calls.ptrace(PTRACE_SETREGSET, tid, address, NT_PRSTATUS);
}

/** `struct user_pt_regs` of arm64: x0 to x30, sp, pc, pstate; and `struct iovec` with its address and bytes. */
const arm64Registers = new BigUint64Array(34);
const arm64Part = new BigUint64Array(2);
const ARM64_PC = 32;
const PTRACE_GETREGSET = 0x4204;
const PTRACE_SETREGSET = 0x4205;
const NT_PRSTATUS = 1;
