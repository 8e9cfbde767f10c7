/** One instruction of classic BPF, as the kernel's `struct sock_filter`. */
export type BpfInstruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/** Codes of the instructions that filters of system calls are made of. */
export const BPF = {
  /** BPF_LD | BPF_W | BPF_ABS */
  load: 0x20,
  /** BPF_ALU | BPF_AND | BPF_K */
  and: 0x54,
  /** BPF_JMP | BPF_JEQ | BPF_K */
  ifEqual: 0x15,
  /** BPF_JMP | BPF_JGE | BPF_K */
  ifAtLeast: 0x35,
  /** BPF_RET | BPF_K */
  return: 0x06,
} as const;

/** The bytes that the kernel reads. */
export function encodeBpf(program: readonly BpfInstruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
