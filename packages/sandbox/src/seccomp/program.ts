/** One instruction of classic BPF, as the kernel's `struct sock_filter`. */
type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const AND = 0x54; // BPF_ALU | BPF_AND | BPF_K
const IF_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const IF_AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

/** Offsets in `struct seccomp_data`; arguments are 64 bits wide, their lower half first on both architectures. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const argumentAt = (index: number): number => 16 + index * 8;

const EPERM = 1;
const ENOSYS = 38;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
export const REFUSE = 0x00050000 | EPERM;
export const UNKNOWN = 0x00050000 | ENOSYS;

/** A rule for one system call. */
export type Rule =
  | { kind: "always"; call: number; action: number }
  /** The lower half of an argument is none of these. */
  | { kind: "unless"; call: number; argument: number; mask?: number; values: readonly number[]; action: number }
  /** The lower half of an argument is one of these. */
  | { kind: "if"; call: number; argument: number; values: readonly number[]; action: number }
  /** The lower half of an argument has any of these bits. */
  | { kind: "ifBits"; call: number; argument: number; bits: number; action: number };

export interface FilterOptions {
  /** AUDIT_ARCH_… of the host; calls of any other kind end the program. */
  architecture: number;
  /** From this number on, system calls belong to another ABI (x32) and are unknown. */
  foreignFrom?: number;
  rules: readonly Rule[];
}

/** A filter that allows what no rule names, as bytes for `bwrap --seccomp`. Rules are tried in order. */
export function assembleFilter({ architecture, foreignFrom, rules }: FilterOptions): Buffer {
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [IF_EQUAL, 1, 0, architecture],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
  ];
  if (foreignFrom !== undefined) program.push([IF_AT_LEAST, 0, 1, foreignFrom], [RETURN, 0, 0, UNKNOWN]);
  for (const rule of rules) program.push(...assembleRule(rule));
  program.push([RETURN, 0, 0, ALLOW]);
  return toBytes(program);
}

function assembleRule(rule: Rule): Instruction[] {
  const body = assembleBody(rule);
  return [[IF_EQUAL, 0, body.length, rule.call], ...body];
}

/** Runs for its call only, and leaves the number of the call loaded for the rules after it. */
function assembleBody(rule: Rule): Instruction[] {
  const refuse: Instruction = [RETURN, 0, 0, rule.action];
  if (rule.kind === "always") return [refuse];
  const load: Instruction = [LOAD, 0, 0, argumentAt(rule.argument)];
  const reload: Instruction = [LOAD, 0, 0, NUMBER_AT];
  if (rule.kind === "ifBits") return [load, [AND, 0, 0, rule.bits], [IF_EQUAL, 1, 0, 0], refuse, reload];
  if (rule.kind === "if") {
    // A match jumps to `refuse`, which follows the last test; no match jumps over it.
    const tests = rule.values.map((value, at): Instruction => {
      const left = rule.values.length - at - 1;
      return [IF_EQUAL, left, left === 0 ? 1 : 0, value];
    });
    return [load, ...tests, refuse, reload];
  }
  const tests = rule.values.map((value, at): Instruction => [IF_EQUAL, rule.values.length - at, 0, value]);
  const mask: Instruction[] = rule.mask === undefined ? [] : [[AND, 0, 0, rule.mask]];
  return [load, ...mask, ...tests, refuse, reload];
}

function toBytes(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
