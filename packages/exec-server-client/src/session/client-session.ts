import type { ProcessNotification } from "../connection/answers.js";
import { ClientError } from "../errors.js";
import { type EventSink, ProcessChannel } from "../events/process-channel.js";
import { MAX_ORPHANS } from "../limits.js";

/** What one session of the server means here. It outlives its connections. */
export class ClientSession {
  /** Given by the server. */
  id: string | undefined;
  readonly #processes = new Map<string, ProcessChannel>();
  /** Starts that were not answered: what they may have started has to be ended. */
  readonly #orphans = new Set<string>();
  /** Methods and signals that the server answered it does not have. */
  readonly unsupported = new Set<string>();
  readonly #onGap: (session: ClientSession, channel: ProcessChannel) => void;
  #lost: ClientError | undefined;

  constructor(onGap: (session: ClientSession, channel: ProcessChannel) => void) {
    this.#onGap = onGap;
  }

  /** Set once the session cannot be used any more. */
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

  /** Of unknown processes nothing is kept. */
  receive({ processId, event }: ProcessNotification): Promise<void> | undefined {
    const channel = this.#processes.get(processId);
    if (channel === undefined) return undefined;
    const taken = channel.receive(event);
    if (channel.hasGap && channel.filling === undefined) this.#onGap(this, channel);
    return taken;
  }

  /** Beyond the bound the oldest is left to the end of the session. */
  addOrphan(processId: string): void {
    this.#orphans.add(processId);
    if (this.#orphans.size <= MAX_ORPHANS) return;
    for (const oldest of this.#orphans) {
      this.#orphans.delete(oldest);
      return;
    }
  }

  deleteOrphan(processId: string): void {
    this.#orphans.delete(processId);
  }

  /** What runs is lost. Idempotent. */
  lose(error: ClientError): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    for (const channel of this.live) channel.fail(error);
    this.#orphans.clear();
  }
}
