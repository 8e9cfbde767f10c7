import { fileURLToPath } from "node:url";

const codex = fileURLToPath(new URL("../codex.js", import.meta.url));

/**
 * How to start the `codex` of this package, for `connectStdio` or `spawn`: it need not be on PATH.
 * @example connectStdio(codexCommand("executor"))
 */
export const codexCommand = (...args: string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [codex, ...args],
});
