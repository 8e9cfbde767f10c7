#!/usr/bin/env node
import { existsSync, readFileSync, writeSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { findRuntimeProblem, refuseInspector } from "@codex/native";
import { concealEnvironment, looksSecret } from "./conceal.js";
import { takeNodeOptions } from "./node-options.js";
import { findQuickCommand, parseQuickly, type QuickCommand } from "./quick-arguments.js";
import { VERSION_LINE } from "./version.js";

takeNodeOptions();
refuseInspector();

/** A separate file beside this one. */
interface Part {
  run(name: string, options: unknown, words: string[]): Promise<void>;
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
  // Before anything is started that could read it.
  concealEnvironment(looksSecret);

  const quick = findQuickCommand(QUICK_COMMANDS, line);
  const parsed = quick === undefined ? undefined : parseQuickly(quick.command, line.slice(quick.count));
  if (quick === undefined || parsed === undefined) {
    keepCompiledCode();
    void import("./program.js").then(({ runProgram }) => runProgram(process.argv));
  } else {
    // A bridge needs nothing of the server.
    const name = parsed.options.attach === true ? "attach" : quick.command.part;
    const file = join(__dirname, "parts", `${name}.cjs`);
    const part = load(file) as Part;
    void part.run(quick.name, parsed.options, parsed.words);
  }
}

/**
 * Like `require`, with the code that the build has compiled when this is the version of V8 that built it: it holds every
 * function that a start needs, also those that were compiled late, and takes less time than Node's own cache does.
 */
function load(file: string): unknown {
  const compiled = `${file}.${process.versions.v8}-${process.arch}.cache`;
  if (!existsSync(compiled)) {
    keepCompiledCode();
    return require(file);
  }
  // The build emits ASCII only: one byte per character in memory.
  const script = new Script(readFileSync(file, "latin1"), { filename: file, cachedData: readFileSync(compiled) });
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, module.createRequire(file), loaded, file, dirname(file));
  return loaded.exports;
}

/**
 * Compiled code is kept between starts where Node does that (22.1 and newer). What is in there is run: so not where Node
 * puts it, among temporary files, which commands in a sandbox may write.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => void };
  const home = process.env.CODEX_HOME || join(homedir(), ".codex");
  if (enableCompileCache !== undefined && existsSync(home)) enableCompileCache(join(home, "cache"));
}
