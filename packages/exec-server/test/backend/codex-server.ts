import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The program `codex` of another make; tests that need it are skipped without. */
export const CODEX_BINARY = process.env.CODEX_BINARY ?? "";

/** `codex exec-server` on a port of its own. */
export async function startCodexServer(...options: string[]): Promise<{ url: string; close(): Promise<void> }> {
  // Not below the directory for temporary files: it has no sandbox then.
  const home = mkdtempSync(join("/var/tmp", "codex-home-"));
  const child = spawn(CODEX_BINARY, ["exec-server", "--listen", "ws://127.0.0.1:0", ...options], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, CODEX_HOME: home },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("error", reject);
    void exited.then(() => reject(new Error("codex exec-server ended before it listened")));
  });
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      await exited;
      rmSync(home, { recursive: true, force: true });
    },
  };
}
