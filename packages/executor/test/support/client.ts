import { type Channel, createMemoryChannelPair } from "@codex/channel";
import {
  type ExecCommandRequest,
  type ExecutorMessage,
  parseExecutorMessage,
  type ToolCallOutcome,
  type UnifiedExecResult,
  unifiedExecResultSchema,
  type WriteStdinRequest,
} from "@codex/executor-protocol";
import type { Executor, ServeOptions } from "../../src/index.js";

type Message<T extends ExecutorMessage["type"]> = Extract<ExecutorMessage, { type: T }>;
export type Delta = Message<"tool_output">;

/** The other end of an executor's channel. Everything that comes is checked against the protocol and kept. */
export class Client {
  readonly messages: ExecutorMessage[] = [];
  readonly served: Promise<void>;
  readonly #channel: Channel;
  readonly #received: Promise<void>;
  #waiters: (() => void)[] = [];
  #ended = false;
  #nextId = 1;
  #gate: Promise<void> = Promise.resolve();

  /** @param options default: the end of the channel ends everything. */
  constructor(
    executor: Executor,
    [own, theirs]: [Channel, Channel] = createMemoryChannelPair(),
    options: ServeOptions = { resumable: false },
  ) {
    this.#channel = own;
    this.served = executor.serve(theirs, options);
    this.#received = this.#receive();
  }

  async #receive(): Promise<void> {
    for (;;) {
      await this.#gate;
      const received = await this.#channel.receive();
      if (received === undefined) break;
      const parsed = received.kind === "value" ? parseExecutorMessage(received.value) : received;
      if (parsed.kind !== "ok") throw new Error(`the executor broke the protocol: ${JSON.stringify(received)}`);
      this.messages.push(parsed.message);
      this.#wake();
    }
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Takes nothing more from the channel until the answer is called. */
  stall(): () => void {
    let release!: () => void;
    this.#gate = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }

  send(value: unknown): Promise<void> {
    return this.#channel.send(value);
  }

  newId(): string {
    return `request-${this.#nextId++}`;
  }

  /** The first message that fits, which may have come already. */
  find<T extends ExecutorMessage>(fits: (message: ExecutorMessage) => message is T): Promise<T>;
  find(fits: (message: ExecutorMessage) => boolean): Promise<ExecutorMessage>;
  async find(fits: (message: ExecutorMessage) => boolean): Promise<ExecutorMessage> {
    for (let index = 0; ; ) {
      for (; index < this.messages.length; index++) {
        const message = this.messages[index];
        if (message !== undefined && fits(message)) return message;
      }
      if (this.#ended) throw new Error(`the channel ended without the message; there was ${this.summary()}`);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Resolves when the executor has taken all that was sent before: it takes one message after the other. */
  async untilTaken(): Promise<void> {
    const requestId = this.newId();
    await this.send({ type: "list_tools", requestId });
    await this.ofType("list_tools_response", requestId);
  }

  ofType<T extends ExecutorMessage["type"]>(type: T, requestId?: string): Promise<Message<T>> {
    return this.find(
      (message): message is Message<T> =>
        message.type === type &&
        (requestId === undefined || ("requestId" in message && message.requestId === requestId)),
    );
  }

  all<T extends ExecutorMessage["type"]>(type: T): Message<T>[] {
    return this.messages.filter((message): message is Message<T> => message.type === type);
  }

  summary(): string {
    return this.messages.map(({ type }) => type).join(", ");
  }

  async initialize(more: object = {}) {
    const requestId = this.newId();
    await this.send({ type: "initialize", requestId, clientName: "test", protocolVersion: "1", ...more });
    return this.ofType("initialize_response", requestId);
  }

  /** The message that refuses an `initialize`. */
  async refusedInitialize(more: object = {}): Promise<string> {
    const requestId = this.newId();
    await this.send({ type: "initialize", requestId, clientName: "test", protocolVersion: "1", ...more });
    return (await this.ofType("error", requestId)).message;
  }

  /** Loses the channel; does not wait for what the executor makes of it. */
  async cut(): Promise<void> {
    await this.#channel.close();
    await this.#received;
  }

  async call(toolName: string, args: unknown, requestId = this.newId(), more: object = {}): Promise<ToolCallOutcome> {
    await this.send({ type: "call_tool", requestId, toolName, arguments: args, ...more });
    return (await this.ofType("call_tool_response", requestId)).outcome;
  }

  exec(request: Partial<ExecCommandRequest> & Pick<ExecCommandRequest, "command">, requestId?: string) {
    return this.call("exec_command", execRequest(request), requestId).then(unwrap);
  }

  write(request: Partial<WriteStdinRequest> & Pick<WriteStdinRequest, "processId">, requestId?: string) {
    return this.call("write_stdin", writeRequest(request), requestId).then(unwrap);
  }

  /** The live output of a call, in order. */
  deltas(requestId?: string): Delta[] {
    return this.all("tool_output").filter((delta) => requestId === undefined || delta.requestId === requestId);
  }

  async close(): Promise<void> {
    await this.#channel.close();
    await this.served;
    await this.#received;
  }
}

export const execRequest = (
  request: Partial<ExecCommandRequest> & Pick<ExecCommandRequest, "command">,
): ExecCommandRequest => ({
  cwd: "/tmp",
  env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: process.env.HOME ?? "/", LC_ALL: "C.UTF-8" },
  tty: false,
  yieldTimeMs: 20_000,
  maxOutputTokens: 10_000,
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  additionalPermissionsPreapproved: false,
  justification: null,
  execApprovalRequirement: { skip: { bypassSandbox: false, proposedExecPolicyAmendment: null } },
  ...request,
});

export const writeRequest = (request: Partial<WriteStdinRequest> & Pick<WriteStdinRequest, "processId">) => ({
  input: "",
  yieldTimeMs: 20_000,
  maxOutputTokens: 10_000,
  ...request,
});

export interface Answer {
  text: string;
  /** What follows the line `Output:`. */
  output: string;
  result: UnifiedExecResult;
}

/** A successful answer of a unified-exec tool. */
export function unwrap(outcome: ToolCallOutcome): Answer {
  if (outcome.status !== "success") throw new Error(`the call failed: ${outcome.message}`);
  const text = outcome.content.map((item) => item.text).join("");
  const at = text.indexOf("\nOutput:\n");
  return { text, output: text.slice(at + 9), result: unifiedExecResultSchema.parse(outcome.structured) };
}

/** The message of an error outcome. */
export function errorOf(outcome: ToolCallOutcome): string {
  if (outcome.status !== "error") throw new Error(`expected an error, got ${JSON.stringify(outcome)}`);
  return outcome.message;
}

export const bytesOf = (deltas: readonly Delta[]): Buffer =>
  Buffer.concat(deltas.map(({ chunk }) => Buffer.from(chunk, "base64")));
