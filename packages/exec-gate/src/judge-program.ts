import type { CompiledGate, GateRule } from "./gate-rule.js";
import { MAX_JUDGED_WORDS } from "./limits.js";

/** A program that is about to start, as the gate has read it from its caller. */
export interface Program {
  /** The path by which it was called, absolute, its links not resolved; absent where it was called by a descriptor. */
  given?: string;
  /** The file that would run, its links resolved; absent where it has no name, as a `memfd` has none. */
  file?: string;
  /** Its words, the first as its caller claims to be called. What is not UTF-8 is U+FFFD. */
  argv: readonly string[];
  /** The command can change neither the file, nor the directories of `given` and `file`. */
  isTrusted: boolean;
}

/** `run`: as if there were no gate, inside; `rule` is absent where no rule decided. */
export type ProgramDecision =
  | { decision: "run"; rule?: GateRule }
  | { decision: "outside"; rule: GateRule; profile: string }
  | { decision: "ask"; rule: GateRule }
  | { decision: "refuse"; rule: GateRule };

/**
 * Judges a program. The strictest rule that matches decides. A rule that allows means the program itself, at a trusted
 * path; one that refuses or asks also means a program that only claims the name, or that is loaded by another.
 */
export function judgeProgram(gate: CompiledGate, program: Program): ProgramDecision {
  const own = getNames(program.given, program.file);
  const claimed = nameOf(program.argv[0]);
  const words = program.argv.slice(1, MAX_JUDGED_WORDS);
  const readings: Reading[] = [{ names: own, words, isItself: program.isTrusted && program.file !== undefined }];
  if (claimed !== undefined) readings.push({ names: new Set([claimed]), words, isItself: false });
  const loaded = findLoaded(own, words);
  if (loaded !== undefined) readings.push(loaded);
  // What loads another program is not allowed by the loader's name either.
  if (loaded !== undefined) readings[0]!.isItself = false;

  const matching = readings.flatMap((reading) => findMatches(gate, reading, program.file));
  const rule = STRICTEST_FIRST.map((decision) => matching.find((each) => each.decision === decision)).find(Boolean);
  if (rule === undefined) return { decision: "run" };
  if (rule.decision !== "allow") return { decision: rule.decision, rule };
  return rule.place.kind === "inside"
    ? { decision: "run", rule }
    : { decision: "outside", rule, profile: rule.place.profile };
}

/** One way to understand what a program is. */
interface Reading {
  names: ReadonlySet<string>;
  /** What follows the program. */
  words: readonly string[];
  /** Whether it is the program of these names, and does not only claim to be. */
  isItself: boolean;
}

const STRICTEST_FIRST = ["refuse", "ask", "allow"] as const;

function findMatches({ byProgram, paths }: CompiledGate, reading: Reading, file: string | undefined): GateRule[] {
  return [...reading.names].flatMap((name) => {
    const rules = byProgram.get(name) ?? [];
    const mayAllow = reading.isItself && (paths.get(baseOf(name))?.has(file ?? "") ?? true);
    return rules.filter(
      ({ decision, pattern }) => (decision !== "allow" || mayAllow) && matchesWords(pattern, reading.words),
    );
  });
}

function matchesWords(pattern: GateRule["pattern"], words: readonly string[]): boolean {
  return pattern.slice(1).every((alternatives, index) => index < words.length && alternatives.includes(words[index]!));
}

/** The paths of a program and their last parts. */
function getNames(...paths: readonly (string | undefined)[]): Set<string> {
  return new Set(paths.filter((path) => path !== undefined).flatMap((path) => [path, baseOf(path)]));
}

function nameOf(claimed: string | undefined): string | undefined {
  // A login shell has a dash before its name.
  return claimed === undefined ? undefined : baseOf(claimed).replace(/^-/, "");
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The program that a loader of the C library, or a program with many names, is told to be. */
function findLoaded(names: ReadonlySet<string>, words: readonly string[]): Reading | undefined {
  const isNamed = (pattern: RegExp) => [...names].some((name) => pattern.test(name));
  if (isNamed(LOADER)) return readingOf(words, findFirstProgram(words));
  if (isNamed(MANY_NAMES)) {
    const option = words[0]?.match(/^--coreutils-prog(?:-shebang)?=(.*)/s);
    return option == null ? readingOf(words, 0) : readingOf([option[1]!, ...words.slice(1)], 0);
  }
  return undefined;
}

/** `ld.so` of glibc and musl, under the names that distributions give it. */
const LOADER = /^(?:ld(?:-linux[\w.-]*|-musl[\w.-]*|-\d[\d.]*|64)?\.so(?:\.\d+)*|ld\.so)$/;
/** Programs whose first word is the program that they are. */
const MANY_NAMES = /^(?:busybox[\w.-]*|toybox[\w.-]*|coreutils|sbase-box|ubase-box)$/;
const LOADER_OPTIONS_WITH_VALUE =
  /^--(?:library-path|inhibit-rpath|preload|audit|argv0|glibc-hwcaps-prepend|glibc-hwcaps-mask)$/;

function findFirstProgram(words: readonly string[]): number {
  let at = 0;
  while (words[at]?.startsWith("--") === true) at += LOADER_OPTIONS_WITH_VALUE.test(words[at]!) ? 2 : 1;
  return at;
}

function readingOf(words: readonly string[], at: number): Reading | undefined {
  const program = words[at];
  return program === undefined ? undefined : { names: getNames(program), words: words.slice(at + 1), isItself: false };
}
