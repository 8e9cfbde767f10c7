import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { noInspectorOptions } from "@codex/native";

/** A program that does nothing but `serveFileHelper` on its stdin and stdout. */
export interface HelperCommand {
  /** An absolute path, and arguments. Its environment is empty. */
  argv: readonly [string, ...string[]];
  /** Absolute paths of what it reads, files or directories: visible to it whatever the sandbox. Systems' libraries are. */
  reads: readonly string[];
}

/** The program of this package. */
export function defaultHelperCommand(): HelperCommand {
  const file = realpathSync(fileURLToPath(new URL("./file-helper.js", import.meta.url)));
  const { resolve } = createRequire(import.meta.url);
  const libraries = [resolve("@codex/exec-server/package.json"), resolve("@codex/channel/package.json")];
  return {
    argv: [process.execPath, ...noInspectorOptions(), file],
    reads: libraries.map((path) => dirname(realpathSync(path))),
  };
}
