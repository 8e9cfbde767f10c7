import {
  type OrchestratorMessage,
  type OutputStream,
  type ToolCallOutcome,
  toolCallOutcomeSchema,
} from "@codex/executor-protocol";
import { messageOf, ToolError } from "./errors.js";
import type { Outbox } from "./outbox.js";
import { splitPiece } from "./sessions/live-output.js";
import type { CallScope, UnifiedExec } from "./sessions/unified-exec.js";
import { quote } from "./text.js";
import type { ToolCallContext, ToolRegistry } from "./tool-registry.js";
import { SESSION_TOOLS } from "./tools/tools.js";

type CallMessage = Extract<OrchestratorMessage, { type: "call_tool" }>;

export interface CallsOptions {
  outbox: Outbox;
  registry: ToolRegistry;
  unifiedExec: UnifiedExec;
  /** Calls under way at once. */
  maxInFlight: number;
  log: (problem: string) => void;
}

/** The tool calls of one orchestrator that are under way. */
export class Calls {
  readonly #options: CallsOptions;
  /** Those without an answer, by their ids. */
  readonly #waits = new Map<string, AbortController>();
  /** Those whose answer the channel has not taken yet: what an orchestrator that does not read can make grow. */
  readonly #running = new Set<Promise<void>>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  has(requestId: string): boolean {
    return this.#waits.has(requestId);
  }

  /** Starts a call; its answer comes when it comes. Resolves when the next message may be taken. */
  async start(message: CallMessage): Promise<void> {
    const { maxInFlight } = this.#options;
    if (this.#running.size >= maxInFlight) {
      const problem = `too many tool calls at once: ${maxInFlight} are under way, which is the limit; wait for one to be answered`;
      return this.#answer(message, { status: "error", message: problem });
    }
    const wait = new AbortController();
    this.#waits.set(message.requestId, wait);
    const run = this.#run(message, wait.signal);
    this.#running.add(run);
    void run.then(() => this.#running.delete(run));
  }

  /** Ends the wait of a call. One that was answered meanwhile is no error. */
  cancel(requestId: string): void {
    this.#waits.get(requestId)?.abort();
  }

  cancelAll(): void {
    for (const wait of this.#waits.values()) wait.abort();
  }

  /** Resolves when every call was answered. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(message: CallMessage, signal: AbortSignal): Promise<void> {
    let resolveAnswered!: () => void;
    const answered = new Promise<void>((resolve) => {
      resolveAnswered = resolve;
    });
    const outcome = await this.#call(message, { requestId: message.requestId, signal, answered });
    // Before the answer is on its way: whoever reads it may use the id again at once.
    this.#waits.delete(message.requestId);
    await this.#answer(message, outcome);
    resolveAnswered();
  }

  /** Never rejects: whatever a tool does becomes an outcome. */
  async #call({ toolName, arguments: args, sessionScope }: CallMessage, scope: CallScope): Promise<ToolCallOutcome> {
    const { unifiedExec, registry, log } = this.#options;
    try {
      const own = SESSION_TOOLS.get(toolName);
      if (own !== undefined) return await own.call(args, unifiedExec, { ...scope, sessions: sessionScope ?? "own" });
      const tool = registry.get(toolName);
      if (tool === undefined) return { status: "error", message: `unknown executor tool \`${quote(toolName)}\`` };
      return checkOutcome(toolName, await tool.call(args, this.#createContext(scope)));
    } catch (error) {
      if (error instanceof ToolError) return { status: "error", message: error.message };
      log(`tool \`${quote(toolName)}\` threw: ${messageOf(error)}`);
      return { status: "error", message: `tool \`${quote(toolName)}\` failed: ${messageOf(error)}` };
    }
  }

  #createContext({ requestId, signal }: CallScope): ToolCallContext {
    const { outbox, unifiedExec } = this.#options;
    let processId: number | undefined;
    let seq = 0;
    let offset = 0;
    const send = async (bytes: Buffer, stream: OutputStream) => {
      processId ??= unifiedExec.table.mintId();
      const piece = { stream, offset, bytes };
      offset += bytes.length;
      for (const part of splitPiece(piece, { limit: offset })) {
        seq += 1;
        await outbox.sendOutput({ requestId, processId, seq, ...part });
      }
    };
    let sent = Promise.resolve();
    const emitOutput = (bytes: Uint8Array, stream: OutputStream = "stdout") => {
      if (!outbox.isLive()) return sent;
      const copy = Buffer.from(bytes);
      // In order also for a tool that does not await; and the end of the channel is not its fault.
      sent = sent.then(() => send(copy, stream)).catch(() => {});
      return sent;
    };
    return { requestId, signal, emitOutput };
  }

  async #answer({ requestId, toolName }: CallMessage, outcome: ToolCallOutcome): Promise<void> {
    const { outbox } = this.#options;
    const problem = await outbox.send({ type: "call_tool_response", requestId, toolName, outcome });
    if (problem === undefined) return;
    const message = `the result of \`${quote(toolName)}\` could not be sent: ${problem}`;
    await outbox.send({ type: "call_tool_response", requestId, toolName, outcome: { status: "error", message } });
  }
}

function checkOutcome(toolName: string, outcome: unknown): ToolCallOutcome {
  const parsed = toolCallOutcomeSchema.safeParse(outcome);
  if (parsed.success) return parsed.data;
  throw new ToolError(`tool \`${quote(toolName)}\` returned no valid result`);
}
