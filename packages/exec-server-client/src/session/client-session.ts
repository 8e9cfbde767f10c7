import { parseNetworkDecision, parseNetworkRequest } from "@codex/exec-server-protocol";
import { evictOldest } from "@codex/values";
import type { ProcessNotification } from "../connection/responses.js";
import { ClientError } from "../errors.js";
import { type EventSink, ProcessChannel } from "../events/process-channel.js";
import { MAX_ORPHANS } from "../limits.js";

/** Follows the network of a process. */
export interface NetworkListener {
  /** A connection waits for the answer. Never rejects. */
  isAllowed(question: WireHostQuestion, signal: AbortSignal): Promise<boolean>;
  note(decision: WireHostDecision): void;
}

type WireHostQuestion = NonNullable<ReturnType<typeof parseNetworkRequest>>["request"];
type WireHostDecision = NonNullable<ReturnType<typeof parseNetworkDecision>>;

/** The client side of a session, which outlives its connections. */
export class ClientSession {
  /** Assigned by the server. */
  id: string | undefined;
  readonly #processes = new Map<string, ProcessChannel>();
  readonly #networks = new WeakMap<ProcessChannel, NetworkListener>();
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
  register(processId: string, sink: EventSink, network?: NetworkListener): ProcessChannel {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#processes.has(processId)) {
      throw new ClientError("duplicate_process", `process id \`${processId}\` is in use in this session`);
    }
    const channel = new ProcessChannel(processId, sink);
    this.#processes.set(processId, channel);
    if (network !== undefined) this.#networks.set(channel, network);
    void channel.ended.then(() => this.unregister(channel));
    return channel;
  }

  unregister(channel: ProcessChannel): void {
    if (this.#processes.get(channel.id) === channel) this.#processes.delete(channel.id);
  }

  /** Answers a question of the server about the network of a process; that of another, or in another form, is denied. */
  async answerNetworkRequest(params: unknown, signal: AbortSignal): Promise<unknown> {
    const asked = parseNetworkRequest(params);
    const network = asked && this.#networkOf(asked.processId);
    const isAllowed = network !== undefined && (await network.isAllowed(asked!.request, signal));
    return { decision: isAllowed ? { type: "allow" } : { type: "deny", reason: "not_allowed" } };
  }

  noteNetworkDecision(params: unknown): void {
    const decision = parseNetworkDecision(params);
    if (decision !== undefined) this.#networkOf(decision.processId)?.note(decision);
  }

  #networkOf(processId: string): NetworkListener | undefined {
    const channel = this.#processes.get(processId);
    return channel && this.#networks.get(channel);
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
