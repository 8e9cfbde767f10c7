import { dirname } from "node:path/posix";
import {
  type CompiledGate,
  judgeProgram,
  MAX_JUDGED_WORDS,
  type Program,
  type ProgramDecision,
} from "@codex/exec-gate";
import { MAX_PATH_BYTES } from "../limits.js";
import type { CallerMemory } from "./caller-memory.js";
import type { Command, CommandReach } from "./command-table.js";
import type { FileFinder, FileId } from "./find-file.js";
import { ERRNO } from "./kernel-calls.js";
import type { Notification } from "./listener.js";

/** A call as it was read from its caller. */
export interface ReadCall {
  /** As the caller wrote it. */
  path: Buffer;
  argv: readonly Buffer[];
  program: Program;
  /** Undefined where only the kernel can tell which file it is. The descriptor is for `closeCall`. */
  file: { fd: number; id: FileId } | undefined;
}

/** What was read of a call, or why it was not. `errno`: the kernel would fail it so. */
type CallReading = { call: ReadCall } | { errno: number } | "hidden";

export interface CallReader {
  read(notification: Notification, command: Command): CallReading;
}

/** @param memory of callers */
export function createCallReader(memory: CallerMemory, files: FileFinder): CallReader {
  return {
    read(notification, command) {
      const { tid, pointerBytes } = notification;
      const path = memory.readText(tid, notification.path, MAX_PATH_BYTES);
      if ("errno" in path) return explain(path.errno);
      const argv = memory.readVector(tid, notification.argv, pointerBytes);
      if ("errno" in argv) return explain(argv.errno);
      const found = files.find(notification, path.value);
      if (found.kind === "hidden") return "hidden";
      if (found.kind === "missing") return { errno: found.errno };
      const words = argv.value.map((word) => word.toString());
      const shared = { path: path.value, argv: argv.value };
      if (found.kind === "unknown") {
        return { call: { ...shared, program: { given: found.given, argv: words, trust: "none" }, file: undefined } };
      }
      const { fd, id, given } = found;
      const program: Program = {
        ...(given === undefined ? {} : { given }),
        ...(found.path === undefined ? {} : { file: found.path }),
        argv: words,
        trust: findTrust(command.reach, given, found.path),
      };
      const interpreter = command.gate.restricts ? files.readInterpreter(fd) : undefined;
      if (interpreter !== undefined) {
        program.interpreter = [...interpreter, path.value.toString(), ...words.slice(1)];
      }
      return { call: { ...shared, program, file: { fd, id } } };
    },
  };
}

/** A caller that is gone is not answered at all. */
const explain = (errno: number): CallReading =>
  errno === ERRNO.EPERM || errno === ERRNO.ESRCH || errno === ERRNO.EACCES ? "hidden" : { errno };

function findTrust(reach: CommandReach | undefined, ...paths: readonly (string | undefined)[]): Program["trust"] {
  const [given, file] = paths;
  if (reach === undefined || given === undefined || file === undefined) return "none";
  if ([given, dirname(given), file, dirname(file)].some((path) => isWritable(reach, path))) return "none";
  return reach.path.includes(dirname(given)) ? "name" : "path";
}

/** The longest path that it is, or is below, decides. */
function isWritable({ access }: CommandReach, path: string): boolean {
  let longest: CommandReach["access"][number] | undefined;
  for (const each of access) {
    const isWithin = path === each.path || path.startsWith(each.path === "/" ? "/" : `${each.path}/`);
    if (isWithin && each.path.length >= (longest?.path.length ?? 0)) longest = each;
  }
  return longest?.isWritable === true;
}

/** What a program is that was called by another name than the gate could look up, or is a script. */
export interface StartedProgram {
  id: FileId;
  path: string | undefined;
  /** As the kernel has given them to it. */
  words: readonly Buffer[];
}

/** Judges what has started: a decision about what is new in it, or `changed` if it is not what was judged. */
export function judgeStarted(
  gate: CompiledGate,
  { path, argv, program, file }: ReadCall,
  started: StartedProgram,
): ProgramDecision | "changed" | "same" {
  const isSame = file === undefined || (file.id.inode === started.id.inode && file.id.device === started.id.device);
  // The kernel gives a program without words an empty one.
  const expected = argv.length === 0 ? [Buffer.alloc(0)] : argv;
  const hasWords = isSame && startsWith(started.words, 0, expected, argv.length);
  if (hasWords && file !== undefined) return "same";
  if (!hasWords && !isScriptOf(started.words, path, argv)) return "changed";
  const words = started.words.map((word) => word.toString());
  const own = file === undefined && started.path !== undefined ? { file: started.path } : {};
  // An interpreter may be called by a link to it.
  const names = [words[0], started.path].filter((name) => name !== undefined);
  const judged = names.map((name) => {
    const interpreter = [name, ...words.slice(1)];
    return judgeProgram(gate, { ...program, ...own, interpreter, trust: "none" });
  });
  return (
    judged.find(({ decision }) => decision === "refuse") ?? judged.find(({ decision }) => decision === "ask") ?? RUN
  );
}

const RUN: ProgramDecision = { decision: "run" };

/** Words of an interpreter before those of its script: up to five interpreters, each with one argument. */
const MAX_INTERPRETER_WORDS = 10;

function isScriptOf(words: readonly Buffer[], path: Buffer, argv: readonly Buffer[]): boolean {
  for (let at = 1; at <= MAX_INTERPRETER_WORDS && at < words.length; at += 1) {
    const isScript = words[at]!.equals(path) || DESCRIPTOR.test(words[at]!.toString("latin1"));
    if (isScript && startsWith(words, at + 1, argv.slice(1), argv.length)) return true;
  }
  return false;
}

/** How the kernel names a script that was called by a descriptor. */
const DESCRIPTOR = /^\/dev\/fd\/\d+/;

/** Whether words from `at` on are the expected ones, and no others unless not all are known. @param read words that were read of the call */
function startsWith(words: readonly Buffer[], at: number, expected: readonly Buffer[], read: number): boolean {
  const isAll = read > MAX_JUDGED_WORDS || words.length - at === expected.length;
  return isAll && expected.every((word, index) => words[at + index]?.equals(word) === true);
}
