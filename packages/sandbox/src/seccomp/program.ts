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

/** What one argument of a system call is; only its lower half is inspected. */
export type Condition =
  | { argument: number; hasBits: number }
  | { argument: number; mask?: number; isOneOf: readonly number[] }
  | { argument: number; mask?: number; isNoneOf: readonly number[] };

/** What happens to a system call for which all conditions hold. */
export interface Rule {
  call: number;
  when?: readonly Condition[];
  action: number;
}

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
function assembleBody({ when = [], action }: Rule): Instruction[] {
  const refuse: Instruction = [RETURN, 0, 0, action];
  if (when.length === 0) return [refuse];
  // From the end: a condition that does not hold jumps over everything up to the last instruction.
  const body = [refuse];
  for (const condition of [...when].reverse()) body.unshift(...assembleCondition(condition, body.length));
  return [...body, [LOAD, 0, 0, NUMBER_AT]];
}

/** @param rest instructions to jump over when it does not hold. */
function assembleCondition(condition: Condition, rest: number): Instruction[] {
  const load: Instruction = [LOAD, 0, 0, argumentAt(condition.argument)];
  if ("hasBits" in condition) return [load, [AND, 0, 0, condition.hasBits], [IF_EQUAL, rest, 0, 0]];
  const mask: Instruction[] = condition.mask === undefined ? [] : [[AND, 0, 0, condition.mask]];
  const isWanted = "isOneOf" in condition;
  const values = isWanted ? condition.isOneOf : condition.isNoneOf;
  const tests = values.map((value, at): Instruction => {
    const left = values.length - at - 1;
    if (!isWanted) return [IF_EQUAL, left + rest, 0, value];
    return [IF_EQUAL, left, left === 0 ? rest : 0, value];
  });
  return [load, ...mask, ...tests];
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
