import type { AttachableEnvironment, ExecutorAttachment } from "@codex/orchestrator";
import type { ScriptedExecutor, ScriptedOptions } from "../programs/scripted-executor.mjs";
import { scriptedChannel } from "../support/executors.js";

/** An environment whose executor is made when it is attached. */
export class ScriptedEnvironment implements AttachableEnvironment {
  /** Of each attachment, the last being the current one. */
  readonly executors: ScriptedExecutor[] = [];
  attempts = 0;
  /** Why it cannot be attached; undefined: it can. */
  problem: string | undefined;
  /** Attaching waits for it. */
  gate: Promise<void> = Promise.resolve();
  /** Resolves when attaching has begun. */
  readonly begun: Promise<void>;
  #begin = () => {};

  constructor(
    readonly id: string,
    private readonly options: ScriptedOptions = {},
  ) {
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  get calls(): unknown[] {
    return this.executors.flatMap(({ received }) => received.filter(({ type }) => type === "call_tool"));
  }

  /** The last attempt. */
  attached: Promise<void> = Promise.resolve();

  attach(orchestrator: ExecutorAttachment): Promise<void> {
    this.attached = this.#attach(orchestrator);
    return this.attached;
  }

  async #attach(orchestrator: ExecutorAttachment): Promise<void> {
    this.attempts += 1;
    this.#begin();
    await this.gate;
    if (this.problem !== undefined) throw new Error(this.problem);
    const { channel, executor } = scriptedChannel(this.options);
    this.executors.push(executor);
    await orchestrator.attach({ name: this.id, channel, shutdownOnClose: false });
  }
}
