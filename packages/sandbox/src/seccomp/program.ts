import { BPF, type BpfInstruction, encodeBpf } from "@codex/native";

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
  const program: BpfInstruction[] = [
    [BPF.load, 0, 0, ARCHITECTURE_AT],
    [BPF.ifEqual, 1, 0, architecture],
    [BPF.return, 0, 0, KILL],
    [BPF.load, 0, 0, NUMBER_AT],
  ];
  if (foreignFrom !== undefined) program.push([BPF.ifAtLeast, 0, 1, foreignFrom], [BPF.return, 0, 0, UNKNOWN]);
  for (const rule of rules) program.push(...assembleRule(rule));
  program.push([BPF.return, 0, 0, ALLOW]);
  return encodeBpf(program);
}

function assembleRule(rule: Rule): BpfInstruction[] {
  const body = assembleBody(rule);
  return [[BPF.ifEqual, 0, body.length, rule.call], ...body];
}

/** Runs for its call only, and leaves the number of the call loaded for the rules after it. */
function assembleBody({ when = [], action }: Rule): BpfInstruction[] {
  const refuse: BpfInstruction = [BPF.return, 0, 0, action];
  if (when.length === 0) return [refuse];
  // From the end: a condition that does not hold jumps over everything up to the last instruction.
  const body = [refuse];
  for (const condition of [...when].reverse()) body.unshift(...assembleCondition(condition, body.length));
  return [...body, [BPF.load, 0, 0, NUMBER_AT]];
}

/** @param rest instructions to jump over when it does not hold. */
function assembleCondition(condition: Condition, rest: number): BpfInstruction[] {
  const load: BpfInstruction = [BPF.load, 0, 0, argumentAt(condition.argument)];
  if ("hasBits" in condition) return [load, [BPF.and, 0, 0, condition.hasBits], [BPF.ifEqual, rest, 0, 0]];
  const mask: BpfInstruction[] = condition.mask === undefined ? [] : [[BPF.and, 0, 0, condition.mask]];
  const isWanted = "isOneOf" in condition;
  const values = isWanted ? condition.isOneOf : condition.isNoneOf;
  const tests = values.map((value, at): BpfInstruction => {
    const left = values.length - at - 1;
    if (!isWanted) return [BPF.ifEqual, left + rest, 0, value];
    return [BPF.ifEqual, left, left === 0 ? rest : 0, value];
  });
  return [load, ...mask, ...tests];
}
