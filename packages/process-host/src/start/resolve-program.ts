import { accessSync, closeSync, constants, openSync, readSync, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ProcessSpec } from "@codex/exec-backend";
import { checkStrings, errnoOf, StartError } from "@codex/exec-backend";
import { MAX_SHEBANG_BYTES } from "../limits.js";

/**
 * The paths that a start accesses synchronously: its directory, its program, and where that is searched for.
 */
export function listAccessed({ argv, cwd, env }: ProcessSpec): string[] {
  const name = argv[0] ?? "";
  if (name.includes("/")) return [cwd, resolve(cwd, name)];
  return [cwd, ...searchPath(env).map((directory) => resolve(cwd, directory, name))];
}

/**
 * What the system loads to start a program, where `listAccessed` answers: the interpreter of a script. Until then this thread
 * is stopped, as by `vfork`. Looked up while it is iterated.
 */
export function* listLoaded(spec: ProcessSpec): Generator<string> {
  try {
    const fd = openSync(resolveProgram(spec), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(MAX_SHEBANG_BYTES);
      const line = bytes.toString("utf8", 0, readSync(fd, bytes)).split("\n", 1)[0];
      const interpreter = /^#![ \t]*([^ \t]+)/.exec(line ?? "")?.[1];
      if (interpreter !== undefined) yield interpreter.startsWith("/") ? interpreter : `${spec.cwd}/${interpreter}`;
    } finally {
      closeSync(fd);
    }
  } catch {
    // It cannot be started, or not be read.
  }
}

const searchPath = (env: ProcessSpec["env"]): string[] => (env.PATH ?? process.env.PATH ?? "/usr/bin:/bin").split(":");

/**
 * Absolute path of the program of a spec, found as execvp would find it: by `PATH` of the spec's environment, else of this
 * process. Checked before anything is started, so that a missing program and a missing directory are distinguished. Looked up
 * synchronously: the start that follows waits for the same file system anyway, and the thread pool costs more than the look-up.
 * For file systems that may not answer, `listAccessed` is looked up before.
 * @throws StartError
 */
export function resolveProgram(spec: ProcessSpec): string {
  checkStrings(spec);
  checkDirectory(spec.cwd);
  const name = spec.argv[0]!;
  if (name.includes("/")) return checkExecutable(resolve(spec.cwd, name), name);
  let denied = false;
  for (const directory of searchPath(spec.env)) {
    const candidate = resolve(spec.cwd, directory, name);
    const state = executableState(candidate);
    if (state === "ok") return candidate;
    denied ||= state === "denied" || state === "directory";
  }
  if (denied)
    throw new StartError("not_executable", `program \`${name}\` was found on PATH but is not executable${ADVICE}`);
  throw new StartError("program_not_found", `program \`${name}\` was not found on PATH`);
}

/** For a file that is not executable. */
const ADVICE = "; make it executable, or run it with its interpreter";

function checkDirectory(cwd: string): void {
  let info: Stats;
  try {
    info = statSync(cwd);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") {
      throw new StartError("cwd_not_found", `working directory \`${cwd}\` does not exist`, { cause });
    }
    throw notEntered(cwd, cause);
  }
  if (!info.isDirectory()) {
    throw new StartError("cwd_not_directory", `working directory \`${cwd}\` is not a directory`);
  }
  try {
    accessSync(cwd, constants.X_OK);
  } catch (cause) {
    throw notEntered(cwd, cause);
  }
}

const notEntered = (cwd: string, cause: unknown): StartError =>
  new StartError("os_error", `working directory \`${cwd}\` cannot be entered (${errnoOf(cause) ?? String(cause)})`, {
    cause,
  });

function checkExecutable(path: string, name: string): string {
  const state = executableState(path);
  if (state === "ok") return path;
  if (state === "directory")
    throw new StartError("not_executable", `program \`${name}\` is a directory; name a program`);
  if (state === "denied") throw new StartError("not_executable", `program \`${name}\` is not executable${ADVICE}`);
  if (state === "unknown") throw new StartError("not_executable", `program \`${name}\` cannot be reached`);
  throw new StartError("program_not_found", `program \`${name}\` was not found`);
}

/** `unknown`: its parent directory cannot be searched. */
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
