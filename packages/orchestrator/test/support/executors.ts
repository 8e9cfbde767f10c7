import { type Channel, createMemoryChannelPair } from "@codex/channel";
import {
  type ExecutorMessage,
  type ExecutorToolSpec,
  type OrchestratorMessage,
  parseOrchestratorMessage,
} from "@codex/executor-protocol";
import { afterEach, expect } from "vitest";
import { createScriptedExecutor, type ScriptedExecutor, type ScriptedOptions } from "../programs/scripted-executor.mjs";

/** Closed after the test, in reverse order. */
const opened: (() => Promise<unknown>)[] = [];

export function closeAfterTest(close: () => Promise<unknown>): void {
  opened.push(close);
}

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A well-behaved executor at the far end of a memory channel. */
export function scriptedChannel(options: ScriptedOptions = {}): { channel: Channel; executor: ScriptedExecutor } {
  const [channel, far] = createMemoryChannelPair();
  return { channel, executor: serveScripted(far, options) };
}

export function serveScripted(far: Channel, options: ScriptedOptions = {}): ScriptedExecutor {
  const executor = createScriptedExecutor({
    ...options,
    send: (message) => void far.send(message).catch(() => {}),
    crash: () => void far.close(),
  });
  closeAfterTest(() => far.close());
  void serve(far, (message) => executor.handle(message));
  return executor;
}

async function serve(far: Channel, handle: (message: OrchestratorMessage) => void): Promise<void> {
  for (let received = await far.receive(); received !== undefined; received = await far.receive()) {
    expect(received.kind).toBe("value");
    if (received.kind !== "value") continue;
    const parsed = parseOrchestratorMessage(received.value);
    // Whatever an orchestrator sends must be readable by the protocol's own schema.
    if (parsed.kind !== "ok") throw new Error(`not a message: ${JSON.stringify(parsed)}`);
    handle(parsed.message);
  }
}

export const HOST = {
  os: "linux",
  arch: "x64",
  shell: { name: "bash", path: "/bin/bash" },
  cwd: "/srv/project",
  home: "/home/user",
  user: "user",
};

/** The far end of a channel in the hands of a test: says anything, hears everything. */
export class RawPeer {
  readonly channel: Channel;
  readonly #far: Channel;

  constructor() {
    [this.channel, this.#far] = createMemoryChannelPair();
    closeAfterTest(() => this.#far.close());
  }

  async next(): Promise<OrchestratorMessage> {
    const received = await this.#far.receive();
    if (received?.kind !== "value") throw new Error("the channel ended");
    const parsed = parseOrchestratorMessage(received.value);
    if (parsed.kind !== "ok") throw new Error(`not a message: ${JSON.stringify(parsed)}`);
    return parsed.message;
  }

  /** The next message, which must be of this type. */
  async expect<T extends OrchestratorMessage["type"]>(type: T): Promise<Extract<OrchestratorMessage, { type: T }>> {
    const message = await this.next();
    const isType = (one: OrchestratorMessage): one is Extract<OrchestratorMessage, { type: T }> => one.type === type;
    if (!isType(message)) throw new Error(`expected ${type}, got ${message.type}`);
    return message;
  }

  async say(message: unknown): Promise<void> {
    await this.#far.send(message);
  }

  sayEncoded(json: string): Promise<void> {
    return this.#far.sendEncoded(Buffer.from(json));
  }

  /** Answers `initialize` and `list_tools` as a proper executor would. */
  async introduce(tools: readonly ExecutorToolSpec[]): Promise<void> {
    const { requestId } = await this.expect("initialize");
    const capabilities = ["tool_output", "cancel_tool", "session_exited"];
    await this.say({ ...INTRODUCTION, requestId, capabilities });
    const list = await this.expect("list_tools");
    await this.say({ type: "list_tools_response", requestId: list.requestId, tools });
  }

  close(): Promise<void> {
    return this.#far.close();
  }
}

export const INTRODUCTION = {
  type: "initialize_response",
  protocolVersion: "1",
  sessionId: "raw",
  host: HOST,
} satisfies Partial<Extract<ExecutorMessage, { type: "initialize_response" }>>;
