import { EventEmitter, once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Channel } from "@codex/channel";
import { createExecutor, type Executor, type ExecutorOptions, type ExecutorTool } from "@codex/executor";
import { createOrchestrator, type LiveOutput, type Orchestrator, type OrchestratorOptions } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import { type CuttingRelay, createCuttingRelay } from "@codex/testkit";
import { afterEach } from "vitest";

/** What was done, one line for each time: a file that programs and tools append to. */
export interface Effects {
  readonly path: string;
  /** Lines, in order. */
  list(): string[];
}

export interface Stage {
  executor: Executor;
  relay: CuttingRelay;
  orchestrator: Orchestrator;
  effects: Effects;
  output: Collected;
  /** What was told of the executor: `offline`, `online`, `gone`. */
  events: string[];
  /** Lines at warn. */
  logs: { event: string; fields: unknown }[];
  /** While closed, no connection can be made. */
  gate: { closed: boolean; attempts: number };
  /** Waits for a condition on `logs` or `gate.attempts`; it is checked whenever one of them grows. */
  until(condition: () => boolean): Promise<void>;
}

/** Live output of a session, put together by its offsets: nothing may be missing or come twice. */
export class Collected {
  readonly #parts: Buffer[] = [];
  #end = 0;
  readonly faults: string[] = [];

  readonly take = ({ offset, bytes, dropped }: LiveOutput): void => {
    if (offset !== this.#end) this.faults.push(`offset ${offset} after ${this.#end}`);
    if (dropped !== undefined) this.faults.push(`bytes ${dropped.from}-${dropped.to} were dropped`);
    this.#parts.push(bytes);
    this.#end = offset + bytes.length;
  };

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Orchestrators over executors that run real programs, behind a relay that breaks. */
export function useStages() {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return async (options: Partial<ExecutorOptions> = {}, more: Partial<OrchestratorOptions> = {}): Promise<Stage> => {
    const directory = mkdtempSync(join(tmpdir(), "codex-resume-"));
    closing.push(() => rmSync(directory, { recursive: true, force: true }));
    const effects = createEffects(join(directory, "effects"));
    const changes = new EventEmitter();
    const logs: { event: string; fields: unknown }[] = [];
    const executor = createExecutor({
      backend: () => createLocalBackend(),
      tools: [createCountTool(effects)],
      telemetry: {
        log: {
          warn: (event, fields) => {
            logs.push({ event, fields });
            changes.emit("change");
          },
        },
      },
      ...options,
    });
    closing.push(() => executor.close());
    const relay = createCuttingRelay((channel) => void executor.serve(channel));
    closing.push(() => relay.close());
    const events: string[] = [];
    const orchestrator = createOrchestrator({
      policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
      onOffline: (_name, _reason, reconnecting) => void events.push(reconnecting ? "offline" : "gone"),
      onOnline: (_name, { resumed }) => void events.push(resumed ? "online" : "renewed"),
      defaults: { timings: { reconnectBaseMs: 1, reconnectMaxMs: 20 } },
      ...more,
    });
    closing.push(() => orchestrator.close());
    const gate = { closed: false, attempts: 0 };
    const until = async (condition: () => boolean) => {
      while (!condition()) await once(changes, "change");
    };
    const connect = async (): Promise<Channel> => {
      gate.attempts += 1;
      changes.emit("change");
      if (gate.closed) throw new Error("no route");
      return relay.connect();
    };
    await orchestrator.attach({ name: "main", reconnect: connect });
    return { executor, relay, orchestrator, effects, output: new Collected(), events, logs, gate, until };
  };
}

function createEffects(path: string): Effects {
  writeFileSync(path, "");
  return { path, list: () => readFileSync(path, "utf8").split("\n").slice(0, -1) };
}

/** A tool whose effect is a line. */
const createCountTool = ({ path }: Effects): ExecutorTool => ({
  spec: { name: "count", description: "Counts.", inputSchema: { type: "object", properties: {} } },
  async call(_args, { emitOutput }) {
    appendFileSync(path, "tool\n");
    await emitOutput(Buffer.from("counted\n"));
    return { status: "success", content: [{ type: "input_text", text: "counted" }] };
  },
});

export const sessionOf = ({ structured }: { structured: unknown }): number =>
  Number(Reflect.get(Object(structured), "processId"));
