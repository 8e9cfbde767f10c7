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

/** A file of its own beside this one. */
interface Part {
  run(name: string, options: unknown, words: string[]): Promise<void>;
}

/** Put in by the build. */
declare const QUICK_COMMANDS: Readonly<Record<string, QuickCommand>>;

const line = process.argv.slice(2);
const problem = findRuntimeProblem();
if (!isVersionPrinted()) problem === undefined ? runCommand() : refuseRuntime(problem);

/** Asked often, and known without loading anything. What cannot be written is left to who tells of it. */
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
  // Where Node has it (22.1 and newer), compiled code is kept between starts. What is in there is run: so not where Node puts
  // it, among temporary files, which commands in a sandbox may write.
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => void };
  const home = process.env.CODEX_HOME || join(homedir(), ".codex");
  const isCached = enableCompileCache !== undefined && existsSync(home);
  if (isCached) enableCompileCache(join(home, "cache"));

  // Before anything is started that could read it.
  concealEnvironment(looksSecret);

  const quick = findQuickCommand(QUICK_COMMANDS, line);
  const parsed = quick === undefined ? undefined : parseQuickly(quick.command, line.slice(quick.count));
  if (quick === undefined || parsed === undefined) {
    void import("./program.js").then(({ runProgram }) => runProgram(process.argv));
  } else {
    const file = join(__dirname, "parts", `${quick.command.part}.cjs`);
    const part = (isCached ? require(file) : load(file)) as Part;
    void part.run(quick.name, parsed.options, parsed.words);
  }
}

/**
 * Like `require`, with the code that the build has compiled where no cache of Node's does that. It is used only by the
 * version of V8 that made it; any other compiles the file, which is the function of a module to a script.
 */
function load(file: string): unknown {
  if (!existsSync(`${file}.cache`)) return require(file);
  // The build leaves nothing but ASCII in it: a byte each in memory.
  const script = new Script(readFileSync(file, "latin1"), {
    filename: file,
    cachedData: readFileSync(`${file}.cache`),
  });
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, module.createRequire(file), loaded, file, dirname(file));
  return loaded.exports;
}
