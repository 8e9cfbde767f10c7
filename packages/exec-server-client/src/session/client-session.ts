import { evictOldest } from "@codex/values";
import type { ProcessNotification } from "../connection/responses.js";
import { ClientError } from "../errors.js";
import { type EventSink, ProcessChannel } from "../events/process-channel.js";
import { MAX_ORPHANS } from "../limits.js";

/** The client side of a session, which outlives its connections. */
export class ClientSession {
  /** Assigned by the server. */
  id: string | undefined;
  readonly #processes = new Map<string, ProcessChannel>();
  /** Processes of starts without a response: they may be running, and must be terminated. */
  readonly #orphans = new Set<string>();
  /** Methods and signals that the server does not support. */
  readonly unsupported = new Set<string>();
  readonly #onGap: (session: ClientSession, channel: ProcessChannel) => void;
  #lost: ClientError | undefined;

  constructor(onGap: (session: ClientSession, channel: ProcessChannel) => void) {
    this.#onGap = onGap;
  }

  /** Why the session was lost; undefined while it is usable. */
  get lost(): ClientError | undefined {
    return this.#lost;
  }

  get live(): ProcessChannel[] {
    return [...this.#processes.values()];
  }

  get orphans(): string[] {
    return [...this.#orphans];
  }

  /** @throws ClientError `duplicate_process` */
  register(processId: string, sink: EventSink): ProcessChannel {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#processes.has(processId)) {
      throw new ClientError("duplicate_process", `process id \`${processId}\` is in use in this session`);
    }
    const channel = new ProcessChannel(processId, sink);
    this.#processes.set(processId, channel);
    void channel.ended.then(() => this.unregister(channel));
    return channel;
  }

  unregister(channel: ProcessChannel): void {
    if (this.#processes.get(channel.id) === channel) this.#processes.delete(channel.id);
  }

  /** Delivers an event; drops those of unknown processes. */
  receive({ processId, event }: ProcessNotification): Promise<void> | undefined {
    const channel = this.#processes.get(processId);
    if (channel === undefined) return undefined;
    const taken = channel.receive(event);
    if (channel.hasGap && channel.filling === undefined) this.#onGap(this, channel);
    return taken;
  }

  /** Over MAX_ORPHANS the oldest is dropped; it ends with the session. */
  addOrphan(processId: string): void {
    this.#orphans.add(processId);
    evictOldest(this.#orphans, MAX_ORPHANS);
  }

  deleteOrphan(processId: string): void {
    this.#orphans.delete(processId);
  }

  /** Fails every process. Idempotent. */
  lose(error: ClientError): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    for (const channel of this.live) channel.fail(error);
    this.#orphans.clear();
  }
}
