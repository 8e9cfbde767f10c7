#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { refuseInspector } from "@codex/exec-server";
import { concealEnvironment, looksSecret } from "./conceal.js";
import { parseQuickly, type QuickCommand } from "./quick-arguments.js";
import type { QuickName } from "./quick-commands.js";

refuseInspector();

/** A file of its own beside this one. */
type Part = typeof import("./parts/executor.js") | typeof import("./parts/exec-server.js");

/** Put in by the build. */
declare const QUICK_COMMANDS: Readonly<Record<QuickName, QuickCommand>>;

// Where Node has it (22.1 and newer), compiled code is kept between starts. What is in there is run: so not where Node puts
// it, among temporary files, which commands in a sandbox may write.
const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => void };
const home = process.env.CODEX_HOME || join(homedir(), ".codex");
const isCached = enableCompileCache !== undefined && existsSync(home);
if (isCached) enableCompileCache(join(home, "cache"));

// Before anything is started that could read it.
concealEnvironment(looksSecret);

const [, , name = "", ...words] = process.argv;
const quick: QuickName | undefined = name === "executor" || name === "exec-server" ? name : undefined;
const options = quick === undefined ? undefined : parseQuickly(QUICK_COMMANDS[quick], words);
if (quick === undefined || options === undefined) {
  void import("./program.js").then(({ runProgram }) => runProgram(process.argv));
} else {
  // The options are what commander would hand over.
  void (load(join(__dirname, "parts", `${quick}.cjs`)) as Part).run(options as never);
}

/**
 * Like `require`, with the code that the build has compiled where no cache of Node's does that. It is used only by the
 * version of V8 that made it; any other compiles the file, which is the function of a module to a script.
 */
function load(file: string): unknown {
  if (isCached || !existsSync(`${file}.cache`)) return require(file);
  const script = new Script(readFileSync(file, "utf8"), {
    filename: file,
    cachedData: readFileSync(`${file}.cache`),
  });
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, module.createRequire(file), loaded, file, dirname(file));
  return loaded.exports;
}
