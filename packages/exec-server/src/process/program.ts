import { accessSync, constants, type Stats, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { ProcessSpec } from "@codex/exec-backend";
import { errnoOf, StartError } from "@codex/exec-backend";
import { MAX_ARGUMENT_BYTES } from "./limits.js";

/**
 * The program of a spec, found as execvp would find it: `PATH` of the process's environment, else our own.
 * Checked before anything is started, so that a missing program and a missing directory are told apart. Looked up
 * synchronously: the start that follows waits for the same file system anyway, and a turn through the thread pool
 * costs more than the look-up.
 * @throws StartError
 */
export function resolveProgram(spec: ProcessSpec): string {
  checkStrings(spec);
  checkDirectory(spec.cwd);
  const name = spec.argv[0]!;
  if (name.includes("/")) return checkExecutable(resolve(spec.cwd, name), name);
  let denied = false;
  for (const directory of (spec.env.PATH ?? process.env.PATH ?? "/usr/bin:/bin").split(":")) {
    const candidate = resolve(spec.cwd, directory, name);
    const state = executableState(candidate);
    if (state === "ok") return candidate;
    denied ||= state === "denied" || state === "directory";
  }
  if (denied) throw new StartError("not_executable", `program \`${name}\` was found on PATH but is not executable`);
  throw new StartError("program_not_found", `program \`${name}\` was not found on PATH`);
}

/** What can be said of a spec without its host. @throws StartError */
export function checkStrings(spec: ProcessSpec): void {
  if (spec.argv.length === 0) throw new StartError("empty_argv", "argv must not be empty");
  if (spec.argv[0] === "") throw new StartError("empty_argv", "argv[0] must name a program, got an empty string");
  for (const text of spec.argv) {
    if (text.includes("\0")) throw new StartError("nul_byte", "argv contains a NUL byte");
    const size = Buffer.byteLength(text);
    // MAX_ARG_STRLEN of Linux bounds each string; the sum is left to the kernel, whose limit follows the stack size.
    if (process.platform === "linux" && size >= MAX_ARGUMENT_BYTES) {
      throw new StartError("too_large", `an argument has ${size} bytes; the limit is ${MAX_ARGUMENT_BYTES - 1} bytes`);
    }
  }
  for (const [name, value] of Object.entries(spec.env)) {
    if (name === "" || name.includes("=") || name.includes("\0") || value.includes("\0")) {
      throw new StartError("nul_byte", `environment variable ${JSON.stringify(name)} is not valid`);
    }
  }
  if (!isAbsolute(spec.cwd)) {
    throw new StartError("cwd_not_absolute", `working directory \`${spec.cwd}\` is not an absolute path`);
  }
  if (spec.cwd.includes("\0")) throw new StartError("nul_byte", "working directory contains a NUL byte");
}

function checkDirectory(cwd: string): void {
  let info: Stats;
  try {
    info = statSync(cwd);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") {
      throw new StartError("cwd_not_found", `working directory \`${cwd}\` does not exist`, { cause });
    }
    throw new StartError("os_error", `working directory \`${cwd}\`: ${errnoOf(cause) ?? String(cause)}`, { cause });
  }
  if (!info.isDirectory()) {
    throw new StartError("cwd_not_directory", `working directory \`${cwd}\` is not a directory`);
  }
}

function checkExecutable(path: string, name: string): string {
  const state = executableState(path);
  if (state === "ok") return path;
  if (state === "directory") throw new StartError("not_executable", `program \`${name}\` is a directory`);
  if (state === "denied") throw new StartError("not_executable", `program \`${name}\` is not executable`);
  if (state === "unknown") throw new StartError("not_executable", `program \`${name}\` cannot be reached`);
  throw new StartError("program_not_found", `program \`${name}\` was not found`);
}

/** `unknown`: the directory around it cannot be searched. */
function executableState(path: string): "ok" | "directory" | "denied" | "missing" | "unknown" {
  let info: Stats | undefined;
  try {
    info = statSync(path, { throwIfNoEntry: false });
  } catch {
    return "unknown";
  }
  if (info === undefined) return "missing";
  if (info.isDirectory()) return "directory";
  if (!info.isFile()) return "denied";
  try {
    accessSync(path, constants.X_OK);
    return "ok";
  } catch {
    return "denied";
  }
}
