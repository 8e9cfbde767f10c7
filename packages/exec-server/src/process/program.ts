import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { errnoOf, StartError } from "./errors.js";
import type { ProcessSpec } from "./exec-backend.js";
import { MAX_ARGUMENT_BYTES } from "./limits.js";

/**
 * The program of a spec, found as execvp would find it: `PATH` of the process's environment, else our own.
 * Checked before anything is started, so that a missing program and a missing directory are told apart.
 * @throws StartError
 */
export async function resolveProgram(spec: ProcessSpec): Promise<string> {
  checkStrings(spec);
  await checkDirectory(spec.cwd);
  const name = spec.argv[0]!;
  if (name.includes("/")) return checkExecutable(resolve(spec.cwd, name), name);
  let denied = false;
  for (const directory of (spec.env.PATH ?? process.env.PATH ?? "/usr/bin:/bin").split(":")) {
    const candidate = resolve(spec.cwd, directory, name);
    const state = await executableState(candidate);
    if (state === "ok") return candidate;
    denied ||= state === "denied";
  }
  if (denied) throw new StartError("not_executable", `program \`${name}\` was found on PATH but is not executable`);
  throw new StartError("program_not_found", `program \`${name}\` was not found on PATH`);
}

function checkStrings(spec: ProcessSpec): void {
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

async function checkDirectory(cwd: string): Promise<void> {
  const info = await stat(cwd).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") {
      throw new StartError("cwd_not_found", `working directory \`${cwd}\` does not exist`, { cause: error });
    }
    throw new StartError("os_error", `working directory \`${cwd}\`: ${errnoOf(error) ?? String(error)}`, {
      cause: error,
    });
  });
  if (!info.isDirectory()) {
    throw new StartError("cwd_not_directory", `working directory \`${cwd}\` is not a directory`);
  }
}

async function checkExecutable(path: string, name: string): Promise<string> {
  const state = await executableState(path);
  if (state === "ok") return path;
  if (state === "denied") throw new StartError("not_executable", `program \`${name}\` is not executable`);
  throw new StartError("program_not_found", `program \`${name}\` was not found`);
}

async function executableState(path: string): Promise<"ok" | "denied" | "missing"> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) return "missing";
  if (!info.isFile()) return "denied";
  return access(path, constants.X_OK).then(
    () => "ok" as const,
    () => "denied" as const,
  );
}
