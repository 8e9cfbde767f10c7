#!/bin/sh
import { existsSync, readFileSync, writeSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { constants, Script } from "node:vm";
import { findRuntimeProblem, refuseInspector } from "@codex/native";
import { takeNodeOptions } from "@codex/servers";
import { reportChangedVariables } from "./changed-variables.js";
import { type Chunk, type Chunks, createChunkLoader } from "./chunks.js";
import { concealEnvironment, looksSecret } from "./conceal.js";
import { findQuickCommand, parseQuickly, type QuickCommand } from "./quick-arguments.js";
import { VERSION_LINE } from "./version.js";

takeNodeOptions();
refuseInspector();

/** A separate file beside this one. */
interface Part {
  run(name: string, options: unknown, words: string[]): Promise<void>;
}

/** The tree of all commands. */
interface Program {
  runProgram(argv: readonly string[]): Promise<void>;
}

/** Defined by the build. */
declare const QUICK_COMMANDS: Readonly<Record<string, QuickCommand>>;

const line = process.argv.slice(2);
const problem = findRuntimeProblem();
if (!isVersionPrinted()) problem === undefined ? runCommand() : refuseRuntime(problem);

/** Prints the version without loading anything else. A write that fails is left to the regular path, which reports it. */
function isVersionPrinted(): boolean {
  if (line.length !== 1 || (line[0] !== "--version" && line[0] !== "-V")) return false;
  try {
    return writeSync(1, `${VERSION_LINE}\n`) > VERSION_LINE.length;
  } catch {
    return false;
  }
}

function refuseRuntime(why: string): void {
  process.stderr.write(`codex: ${why}\n`);
  process.exitCode = 1;
}

function runCommand(): void {
  reportChangedVariables();
  // What it names stays the same for programs that start elsewhere, and for what a sandbox closes.
  if (process.env.CODEX_HOME) process.env.CODEX_HOME = resolve(process.env.CODEX_HOME);
  // Before anything is started that could read it.
  concealEnvironment(looksSecret);

  const quick = findQuickCommand(QUICK_COMMANDS, line);
  const parsed = quick === undefined ? undefined : parseQuickly(quick.command, line.slice(quick.count));
  // A copy on another host has some of the commands.
  if (quick === undefined || parsed === undefined || !existsSync(fileOf(`${quick.command.part}.cjs`))) {
    keepCompiledCode();
    const { runProgram } = require(fileOf("program.cjs")) as Program;
    void runProgram(process.argv);
  } else {
    // A bridge needs nothing of the server.
    const name = parsed.options.attach === true ? "attach" : quick.command.part;
    const part = load(name, parsed.options.executor === undefined ? [name] : [`${name}-remote`, name]) as Part;
    void part.run(quick.name, parsed.options, parsed.words);
  }
}

function fileOf(name: string): string {
  return join(__dirname, "parts", name);
}

/**
 * Loads a part like `require`, with the code that the build has compiled if this is the version of V8 that built it: it
 * contains every function that a start needs, also those that were compiled late, and takes less time than Node's own cache.
 * @param packs names of the files that may contain the chunks of this part, the best first; without one it is a file on its own
 */
function load(name: string, packs: readonly string[]): unknown {
  for (const file of [...packs.map((pack) => fileOf(`${pack}.pack.cjs`)), fileOf(`${name}.cjs`)]) {
    if (!existsSync(compiledOf(file))) continue;
    const value = runCompiled(file);
    const chunks = typeof value === "function" ? { [`./${name}.cjs`]: value } : value;
    const files = {
      readChunk: (path: string) => runScript(path) as Chunk,
      readPack: (path: string) => runCompiled(path) as Chunks,
    };
    return createChunkLoader(fileOf("."), chunks, files)(`./${name}.cjs`);
  }
  keepCompiledCode();
  return require(fileOf(`${name}.cjs`));
}

function compiledOf(file: string): string {
  return `${file}.${process.versions.v8}-${process.arch}.cache`;
}

function runCompiled(file: string): Chunk | Chunks {
  return runScript(file, { cachedData: readFileSync(compiledOf(file)) });
}

/** @returns the function of a file with one chunk, or those of a pack. The build emits ASCII only: one byte per character in memory. */
function runScript(filename: string, options: { cachedData?: Buffer } = {}): Chunk | Chunks {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new Script(readFileSync(filename, "latin1"), { filename, importModuleDynamically, ...options });
  return script.runInThisContext() as Chunk | Chunks;
}

/**
 * Keeps compiled code between starts where Node supports that (22.1 and newer). The stored code is executed: so it is not in Node's
 * default place, a temporary directory, where commands in a sandbox may write.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => void };
  const home = process.env.CODEX_HOME || join(homedir(), ".codex");
  if (enableCompileCache !== undefined && existsSync(home)) enableCompileCache(join(home, "cache"));
}
