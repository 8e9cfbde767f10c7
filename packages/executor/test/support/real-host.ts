import { readFileSync } from "node:fs";
import type { ExecBackend } from "@codex/exec-backend";
import type { WriteStdinRequest } from "@codex/executor-protocol";
import { createLocalBackend } from "@codex/process-host";
import { afterEach } from "vitest";
import { createExecutor, type ExecutorOptions } from "../../src/index.js";
import { type Answer, Client } from "./client.js";

/** Both kinds of stdio, for bodies that run over each. */
export const STDIO = [
  { name: "a terminal", tty: true },
  { name: "pipes", tty: false },
] as const;

/** Executors over real processes; closed after each test with everything they started. */
export function useRealHosts() {
  const opened: { client: Client; backend: ExecBackend }[] = [];
  afterEach(async () => {
    for (const { client, backend } of opened.splice(0)) {
      await client.close();
      await backend.close();
    }
  });
  return (options: Partial<ExecutorOptions> = {}): Client => {
    const backend = createLocalBackend();
    const client = new Client(createExecutor({ backend, ...options }));
    opened.push({ client, backend });
    return client;
  };
}

/** The id of a session that outlived its window. */
export function idOf({ result, text }: Answer): number {
  if (result.processId === undefined) throw new Error(`the session has ended: ${text}`);
  return result.processId;
}

/** Starts a session and waits until its output holds a text. */
export async function startSession(
  client: Client,
  request: Parameters<Client["exec"]>[0],
  wanted: string,
): Promise<{ id: number; output: string }> {
  const answer = await client.exec({ yieldTimeMs: 0, ...request });
  const id = idOf(answer);
  const { output } = answer;
  return { id, output: output.includes(wanted) ? output : output + (await readUntil(client, id, wanted)) };
}

/** Polls a session until its output since then holds a text; each poll waits for output. */
export async function readUntil(
  client: Client,
  processId: number,
  wanted: string,
  first: Partial<WriteStdinRequest> = {},
): Promise<string> {
  let seen = "";
  for (let request = first; ; request = {}) {
    const { output, result } = await client.write({ processId, until: "output", ...request });
    seen += output;
    if (seen.includes(wanted)) return seen;
    if (result.closed) throw new Error(`the session ended without ${JSON.stringify(wanted)}: ${JSON.stringify(seen)}`);
  }
}

/** Whether a process runs; one that nobody has collected yet does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch (error) {
    return process.platform !== "linux" && !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
