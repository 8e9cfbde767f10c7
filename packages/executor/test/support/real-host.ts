import { createLocalBackend, type ExecBackend } from "@codex/exec-server";
import { afterEach } from "vitest";
import { createExecutor, type ExecutorOptions } from "../../src/index.js";
import { Client } from "./client.js";

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
