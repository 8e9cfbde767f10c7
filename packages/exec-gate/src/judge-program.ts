import { foldCase } from "./fold-case.js";
import type { CompiledGate, GateRule, OutsideProfile } from "./gate-rule.js";
import { hasOption } from "./has-option.js";
import { MAX_JUDGED_WORDS } from "./limits.js";

/** A program that is about to start, as the gate has read it from its caller. */
export interface Program {
  /** The path by which it was called, absolute, its links not resolved; absent where it was called by a descriptor. */
  given?: string;
  /** The file that would run, its links resolved; absent where it has no name, as a `memfd` has none. */
  file?: string;
  /** Its words, the first as its caller claims to be called. What is not UTF-8 is U+FFFD. */
  argv: readonly string[];
  /** For a script: the words with which the system starts its interpreter, the path of the script among them. */
  interpreter?: readonly string[];
  /**
   * `path`: the command can change neither the file nor the directories of `given` and `file`. `name`: and it was found in a directory of
   * the command's `PATH`, so that its name means this program.
   */
  trust: "none" | "path" | "name";
}

/** `run`: as if there were no gate, inside; `rule` is absent where no rule decided. */
export type ProgramDecision =
  | { decision: "run"; rule?: GateRule }
  | { decision: "outside"; rule: GateRule; profile: OutsideProfile }
  | { decision: "ask"; rule: GateRule }
  | { decision: "refuse"; rule: GateRule };

/**
 * Judges a program. The strictest rule that matches decides. A rule that allows means the program itself, at a trusted
 * path; one that refuses or asks also means a program that only claims the name, or that is loaded by another.
 */
export function judgeProgram(gate: CompiledGate, program: Program): ProgramDecision {
  const found = listReadings(program).flatMap((reading) => findMatches(gate, reading, program.file));
  const isAllowed = found.some((rule) => rule.decision === "allow");
  const matching = found.filter((rule) => !(isAllowed && rule.unlessAllowed === true));
  const find = (decision: GateRule["decision"]) => matching.find((rule) => rule.decision === decision);
  const refusing = find("refuse");
  if (refusing !== undefined) return { decision: "refuse", rule: refusing };
  const asking = find("ask");
  if (asking !== undefined && !isApproved(gate, program)) return { decision: "ask", rule: asking };
  const rule = asking ?? find("allow");
  if (rule === undefined) return { decision: "run" };
  return rule.place.kind === "inside"
    ? { decision: "run", rule }
    : { decision: "outside", rule, profile: rule.place.profile };
}

/** One way to understand what a program is. */
interface Reading {
  names: ReadonlySet<string>;
  /** What follows the program, from `at` on. */
  words: readonly string[];
  at: number;
  /** How far it is the program of these names, and does not only claim to be. */
  trust: Program["trust"];
}

function listReadings({ given, file, argv, interpreter, trust }: Program): Reading[] {
  const words = argv.slice(0, MAX_JUDGED_WORDS);
  const named: Reading = { names: getNames(given, file), words, at: 1, trust: "none" };
  const loaded = [...listLoaded(named), ...listEmulated(named)];
  // What loads another program is not allowed by the loader's name either.
  if (file !== undefined && loaded.length === 0) named.trust = trust;
  const claimed = readClaimed(words);
  const loader = interpreter && readWord(interpreter.slice(0, MAX_JUDGED_WORDS), 0);
  return [named, ...loaded, ...(claimed ? [claimed] : []), ...(loader ? [loader, ...listLoaded(loader)] : [])];
}

function readClaimed(words: readonly string[]): Reading | undefined {
  const [claimed] = words;
  if (claimed === undefined) return undefined;
  // A login shell has a dash before its name.
  return { names: new Set([claimed, baseOf(claimed).replace(/^-/, "")]), words, at: 1, trust: "none" };
}

/** The program that the word at an index is. */
function readWord(words: readonly string[], index: number, program = words[index]): Reading | undefined {
  return program === undefined ? undefined : { names: getNames(program), words, at: index + 1, trust: "none" };
}

/** The programs that a loader of the C library, or a program with many names, is told to be, one after the other. */
function listLoaded(loader: Reading): Reading[] {
  const loaded: Reading[] = [];
  for (let next = findLoaded(loader); next !== undefined; next = findLoaded(next)) loaded.push(next);
  return loaded;
}

function findLoaded({ names, words, at }: Reading): Reading | undefined {
  const isNamed = (pattern: RegExp) => [...names].some((name) => pattern.test(name));
  if (isNamed(LOADER)) return readWord(words, skipOptions(words, at));
  if (!isNamed(MANY_NAMES)) return undefined;
  const option = words[at]?.match(/^--coreutils-prog(?:-shebang)?=(.*)/s);
  return readWord(words, at, option?.[1]);
}

/** The programs that an emulator could be told to run: its first words that are no options, of which one may be the value of an option. */
function listEmulated({ names, words, at }: Reading): Reading[] {
  if (![...names].some((name) => EMULATOR.test(name))) return [];
  const indices = words.flatMap((word, index) => (index >= at && !word.startsWith("-") ? [index] : []));
  return indices.slice(0, EMULATED_WORDS).flatMap((index) => readWord(words, index) ?? []);
}

/** Programs that load another one into themselves and run it there. */
const EMULATOR =
  /^(?:valgrind(?:\.bin)?|(?:memcheck|cachegrind|callgrind|helgrind|drd|massif|dhat|lackey|none|exp-\w+)-\w+-\w+|qemu-(?!system-|img$|nbd$|io$)\w+(?:-static)?|box(?:64|86)|FEX(?:Interpreter|Loader)|blink|rosetta)$/;
const EMULATED_WORDS = 4;

/** `ld.so` of glibc and musl, under the names that distributions give it. */
const LOADER = /^(?:ld(?:-linux[\w.-]*|-musl[\w.-]*|-\d[\d.]*|64)?\.so(?:\.\d+)*|ld\.so)$/;
/** Programs whose first word is the program that they are. */
const MANY_NAMES = /^(?:busybox[\w.-]*|toybox[\w.-]*|coreutils|sbase-box|ubase-box)$/;
const LOADER_OPTIONS_WITH_VALUE =
  /^--(?:library-path|inhibit-rpath|preload|audit|argv0|glibc-hwcaps-prepend|glibc-hwcaps-mask)$/;

function skipOptions(words: readonly string[], from: number): number {
  let at = from;
  while (words[at]?.startsWith("--") === true) at += LOADER_OPTIONS_WITH_VALUE.test(words[at]!) ? 2 : 1;
  return at;
}

function findMatches(gate: CompiledGate, reading: Reading, file: string | undefined): GateRule[] {
  return [...reading.names].flatMap((name) => {
    const exact = gate.byProgram.get(name) ?? [];
    const canonical = gate.byFoldedProgram.size === 0 ? [] : (gate.byFoldedProgram.get(foldCase(name)) ?? []);
    const isMeant = name.includes("/") ? reading.trust !== "none" : reading.trust === "name";
    const mayAllow = isMeant && (gate.paths.get(baseOf(name))?.has(file ?? "") ?? true);
    return [...exact, ...canonical].filter(
      (rule) => (rule.decision !== "allow" || mayAllow) && matchesWords(rule, reading),
    );
  });
}

function matchesWords({ pattern, whole, canonical, option }: GateRule, { words, at }: Reading): boolean {
  if (option !== undefined && !hasOption(words.slice(at), option)) return false;
  const further = pattern.length - 1;
  const left = Math.max(0, words.length - at); // a program may have no words at all
  if (left < further || (whole === true && left > further)) return false;
  return pattern.slice(1).every((alternatives, index) => {
    const word = words[at + index]!;
    if (canonical !== true) return alternatives.includes(word);
    return alternatives.some((alternative) => foldCase(alternative) === foldCase(word));
  });
}

/** By the name of the file or of its link, not by the one that is only claimed. */
function isApproved({ approved }: CompiledGate, { given, file, argv }: Program): boolean {
  return [...getNames(given, file)].some((name) =>
    approved
      .get(name)
      ?.some((words) => words.length === argv.length && words.every((word, at) => at === 0 || word === argv[at])),
  );
}

/** The paths of a program and their last parts. */
function getNames(...paths: readonly (string | undefined)[]): Set<string> {
  return new Set(paths.filter((path) => path !== undefined).flatMap((path) => [path, baseOf(path)]));
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
