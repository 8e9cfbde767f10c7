import { BPF, type BpfInstruction, encodeBpf } from "../libc/bpf.js";
import type { Abi } from "./system-calls.js";

/** Offsets in `struct seccomp_data`. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;

/** SECCOMP_RET_… of linux/seccomp.h. */
const NOTIFY = 0x7fc00000;
const ALLOW = 0x7fff0000;
const UNKNOWN = 0x00050000 | 38; // ENOSYS

/** A filter whose listener is asked about every program that is started, by each ABI; everything else is allowed. */
export function assembleGateFilter({ executing }: Pick<Abi, "executing">): Buffer {
  const architectures = [...new Set(executing.map(({ architecture }) => architecture))];
  const blocks = architectures.map((architecture) => {
    const abis = executing.filter((abi) => abi.architecture === architecture);
    return assembleBlock(
      architecture,
      abis.flatMap(({ execve, execveat }) => [execve, execveat]),
    );
  });
  return encodeBpf([[BPF.load, 0, 0, ARCHITECTURE_AT], ...blocks.flat(), [BPF.return, 0, 0, UNKNOWN]]);
}

/** Another architecture jumps over it. */
function assembleBlock(architecture: number, numbers: readonly number[]): BpfInstruction[] {
  const tests = numbers.map((number, at): BpfInstruction => [BPF.ifEqual, numbers.length - at, 0, number]);
  const body: BpfInstruction[] = [
    [BPF.load, 0, 0, NUMBER_AT],
    ...tests,
    [BPF.return, 0, 0, ALLOW],
    [BPF.return, 0, 0, NOTIFY],
  ];
  return [[BPF.ifEqual, 0, body.length, architecture], ...body];
}
