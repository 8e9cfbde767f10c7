import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

/** The built command; `scripts/test` builds it before the tests. */
export const codex = fileURLToPath(new URL("../dist/codex.js", import.meta.url));

/** The built command as words of a shell, whatever its path. */
export const codexWords = [process.execPath, codex].map((path) => `'${path.replaceAll("'", "'\\''")}'`).join(" ");

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: string;
}

/** Starts the command; what still runs after the test is killed. */
export function useCommand() {
  const children = new Set<ChildProcessWithoutNullStreams>();
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });
  const startIn = (cwd: string, args: readonly string[], env: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [codex, ...args], { cwd, env: { ...process.env, ...env } });
    child.stdin.on("error", () => {}); // a command that ends does not read its input any more
    children.add(child);
    return child;
  };
  const start = (args: readonly string[], env?: Record<string, string>) => startIn(process.cwd(), args, env);
  return {
    start,
    startIn,
    async run(args: readonly string[], input: string | Uint8Array = ""): Promise<Finished> {
      const child = start(args);
      child.stdin.end(input);
      return finish(child);
    },
    /** An executor on a websocket, and its address. */
    async listen(args: readonly string[] = []) {
      const child = start(["executor", "--listen", "ws://127.0.0.1:0", ...args]);
      const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      return { child, url };
    },
  };
}

export async function finish(child: ChildProcessWithoutNullStreams): Promise<Finished> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => stdout.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => stderr.push(bytes));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}
