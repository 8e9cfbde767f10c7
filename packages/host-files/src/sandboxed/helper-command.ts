import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { noInspectorOptions, requireHere } from "@codex/native";
import { messageOf } from "@codex/values";

/** A program that runs `serveFileHelper` on its stdin and stdout. */
export interface HelperCommand {
  /** Absolute path of the program, and its arguments. It runs with an empty environment. */
  argv: readonly [string, ...string[]];
  /** Absolute paths of files and directories it reads, readable whatever the sandbox says; system libraries always are. */
  reads: readonly string[];
}

/** The helper program of this package: a bundle needs the package beside it. @throws Error if it is not found */
export function defaultHelperCommand(): HelperCommand {
  const file = findProgram();
  const reads = new Set<string>();
  addPackage(reads, findAbove(dirname(file), "package.json"));
  return { argv: [process.execPath, ...noInspectorOptions(), file], reads: [...reads] };
}

function findProgram(): string {
  try {
    return realpathSync(requireHere().resolve("@codex/host-files/file-helper"));
  } catch (cause) {
    const [reason] = messageOf(cause).split("\n");
    const advice = "a bundle needs the package @codex/host-files installed beside it";
    throw new Error(`the program that makes file calls in a sandbox was not found (${reason}); ${advice}`, { cause });
  }
}

/** Adds the directory of a package and of its dependencies, wherever they are installed. @param manifest path of its package.json */
function addPackage(reads: Set<string>, manifest: string | undefined): void {
  if (manifest === undefined) return; // optional, or for another platform
  const directory = dirname(realpathSync(manifest));
  if (reads.has(directory)) return;
  reads.add(directory);
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies?: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    addPackage(reads, findAbove(directory, join("node_modules", name, "package.json")));
  }
}

/** The file in this directory or in the nearest ancestor that has it. */
function findAbove(directory: string, path: string): string | undefined {
  const file = join(directory, path);
  if (existsSync(file)) return file;
  return dirname(directory) === directory ? undefined : findAbove(dirname(directory), path);
}
