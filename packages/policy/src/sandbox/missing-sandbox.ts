import { posix } from "node:path";
import type { HostInfo } from "@codex/executor-protocol";
import { isWithin } from "@codex/permissions";
import type { AnalyzedCommand } from "../analyzed-command.js";
import { CHARACTERS_PER_EFFORT, MAX_CLOSED_EFFORT } from "../limits.js";
import { programName } from "../programs.js";
import { compileDeniedRead, type DeniedRead } from "./deny-read.js";
import type { SandboxSelector } from "./sandbox-selector.js";

/** A command that is to run in a sandbox, on an executor that has none: what is not known to be safe needs approval. */
export interface MissingSandbox {
  /** Why there is no sandbox. */
  reason: string;
  /** The word through which a command that only reads would read what a sandbox denies; undefined if there is none. */
  findClosed(words: readonly string[]): string | undefined;
}

/** Undefined if the executor can sandbox, no sandbox is required, or commands are refused without one. `cwd` is absolute: where the command starts. */
export function findMissingSandbox(
  { name, host }: { name: string; host: HostInfo | undefined },
  cwd: string,
  { commands }: AnalyzedCommand,
  sandbox: SandboxSelector,
): MissingSandbox | undefined {
  if (sandbox.unrestricted || sandbox.whenUnavailable !== "ask") return undefined;
  const problem = findNoSandbox(host);
  if (problem === undefined) return undefined;
  const search = new ClosedSearch(sandbox.deniedReads?.(host) ?? [], listDirectories(commands, cwd, host?.home ?? "/"));
  return { reason: `executor \`${name}\` ${problem}`, findClosed: (words) => search.find(words) };
}

/** The directories in which commands of a script may run: where it starts, and wherever a `cd` in it leads. */
function listDirectories(commands: AnalyzedCommand["commands"], cwd: string, home: string): readonly string[] {
  const directories = new Set([cwd]);
  for (const [program = "", ...operands] of commands) {
    if (programName(program) !== "cd") continue;
    const targets = operands.filter((word) => !word.startsWith("-"));
    for (const target of targets.length === 0 ? [home] : targets) {
      for (const from of [...directories]) directories.add(posix.resolve(from, target));
      if (directories.size > MAX_DIRECTORIES) return [...directories, "/"];
    }
  }
  return [...directories];
}

/** Most directories of one script that are distinguished. */
const MAX_DIRECTORIES = 64;

/** Considers only the words: symlinks can only be resolved on the executor's host. */
class ClosedSearch {
  readonly #denied: readonly { isDenied: (path: string) => boolean; fixed: string }[];
  readonly #directories: readonly string[];
  /** Results by word, for programs that descend and for others. */
  readonly #known = [new Map<string, boolean>(), new Map<string, boolean>()] as const;
  #effort = 0;

  constructor(denied: readonly DeniedRead[], directories: readonly string[]) {
    this.#denied = denied.map((one) => ({ isDenied: compileDeniedRead(one), fixed: fixedPart(one) }));
    this.#directories = directories;
  }

  /** Beyond `MAX_CLOSED_EFFORT`, the next word. */
  find([program = "", ...words]: readonly string[]): string | undefined {
    const descends = DESCENDING.has(programName(program));
    if (descends && this.#isClosedAnywhere(".", true)) return program;
    return words.find((word) => listPaths(word).some((path) => this.#isClosedAnywhere(path, descends)));
  }

  #isClosedAnywhere(word: string, descends: boolean): boolean {
    const results = this.#known[descends ? 1 : 0];
    const known = results.get(word);
    if (known !== undefined) return known;
    const result = this.#directories.some((from) => this.#isClosed(posix.resolve(from, word), descends));
    results.set(word, result);
    return result;
  }

  #isClosed(path: string, descends: boolean): boolean {
    this.#effort += 1 + path.length / CHARACTERS_PER_EFFORT;
    return (
      this.#effort > MAX_CLOSED_EFFORT ||
      INDIRECT_PATHS.some((pattern) => pattern.test(path)) ||
      this.#denied.some(({ isDenied, fixed }) => isDenied(path) || (descends && isWithin(fixed, path)))
    );
  }
}

/** What a word may name: itself, or a value attached to an option, after any number of option letters. */
const listPaths = (word: string): readonly string[] => {
  if (word.startsWith("--")) return [word, word.slice(word.indexOf("=") + 1)];
  const letters = /^-[a-zA-Z0-9]*/.exec(word)?.[0].length ?? 0;
  return [word, ...Array.from({ length: letters }, (_, at) => word.slice(at + 1))];
};

/** Programs that are known to be safe and read the files below a directory. */
const DESCENDING: ReadonlySet<string> = new Set(["grep", "rg"]);

/** Information about processes, memory, disks, and other ways to read a file other than by its name. */
const INDIRECT_PATHS = [
  /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:root|cwd|fd|environ|mem|map_files|cmdline)(?:\/|$)/,
  /^\/proc\/k(?:core|msg)$/,
  /^\/dev\/(?!(?:null|zero|full|u?random|tty|stdin)$)./,
];

/** The directory or file that contains everything a pattern matches. */
function fixedPart({ path, isPattern }: DeniedRead): string {
  if (!isPattern) return path;
  return posix.dirname(`${path.slice(0, path.search(/[*?[\]]/))}x`);
}

/** Why an executor cannot sandbox a command; undefined when it can. */
export function findNoSandbox(host: HostInfo | undefined): string | undefined {
  if (host?.sandbox !== undefined && host.sandbox.kind !== "none") return undefined;
  const why = host === undefined ? "it supports only the base messages" : host.sandbox?.problem;
  return `cannot apply a sandbox${why === undefined ? "" : `: ${why}`}`;
}
