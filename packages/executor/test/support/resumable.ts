import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBackend } from "@codex/process-host";
import type { LogFields } from "@codex/telemetry";
import { afterEach } from "vitest";
import { createExecutor, type Executor, type ExecutorOptions } from "../../src/index.js";
import { Client } from "./client.js";
import { startSession } from "./real-host.js";

export interface ResumableHost {
  executor: Executor;
  /** Lines at warn. */
  logs: { event: string; fields: LogFields | undefined }[];
  /** A channel of its own; the executor keeps what it leaves. */
  connect(): Client;
  /** A file for what was done, one line for each time. */
  effectsFile: string;
  effects(): string[];
}

/** Executors that run real programs and keep what lost channels leave. They are closed after each test. */
export function useResumableHosts() {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return (options: Partial<ExecutorOptions> = {}): ResumableHost => {
    const directory = mkdtempSync(join(tmpdir(), "codex-resumable-"));
    closing.push(() => rmSync(directory, { recursive: true, force: true }));
    const effectsFile = join(directory, "effects");
    writeFileSync(effectsFile, "");
    const logs: { event: string; fields: LogFields | undefined }[] = [];
    const executor = createExecutor({
      backend: () => createLocalBackend(),
      tools: [
        {
          spec: { name: "count", description: "Counts.", inputSchema: { type: "object" } },
          async call() {
            appendFileSync(effectsFile, "tool\n");
            return { status: "success", content: [{ type: "input_text", text: "counted" }] };
          },
        },
      ],
      telemetry: { log: { warn: (event, fields) => void logs.push({ event, fields }) } },
      ...options,
    });
    closing.push(() => executor.close());
    return {
      executor,
      logs,
      connect: () => new Client(executor, undefined, { resumable: true }),
      effectsFile,
      effects: () => readFileSync(effectsFile, "utf8").split("\n").slice(0, -1),
    };
  };
}

/** Starts a program that lives on and tells its pid, over a connection that acknowledges. */
export async function startLasting(client: Client, script = "echo pid $$; exec sleep 1000") {
  const { sessionId } = await client.initialize({ acknowledges: true });
  const { id, output } = await startSession(client, { command: ["sh", "-c", script], stdin: "open" }, "pid ");
  return { sessionId, id, pid: Number(/pid (\d+)/.exec(output)?.[1]) };
}

/** What resumes the sessions of a lost channel of which nothing was received. */
export const resumeWith = (resumeSessionId: string, more: object = {}) => ({
  resumeSessionId,
  acknowledges: true,
  unanswered: [],
  received: [],
  ...more,
});
