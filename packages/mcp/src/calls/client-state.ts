import type { Clock } from "@codex/clock";
import { type Conversation, endSessions } from "@codex/orchestrator";
import { ParkedCalls } from "../approvals/parked-calls.js";
import { MAX_NOTES } from "../limits.js";
import { SessionWatches } from "../resources/session-watches.js";
import { Tasks } from "../tasks/tasks.js";

/** The state of one client between its requests. */
export class ClientState {
  readonly #open: () => Promise<Conversation>;
  #conversation: Promise<Conversation> | undefined;
  readonly parked = new ParkedCalls();
  readonly tasks: Tasks;
  readonly watches: SessionWatches;
  readonly #notes: string[] = [];

  /** @param open called when the conversation is first used; again if that failed */
  constructor(open: () => Promise<Conversation>, clock: Clock) {
    this.#open = open;
    this.tasks = new Tasks(clock);
    this.watches = new SessionWatches(() => this.conversation, clock);
  }

  get conversation(): Promise<Conversation> {
    this.#conversation ??= this.#open().catch((error: unknown) => {
      this.#conversation = undefined;
      throw error;
    });
    return this.#conversation;
  }

  /** Adds a note to the next result, about an event that the client has not seen. */
  note(text: string): void {
    this.#notes.push(text);
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
  }

  takeNotes(): string[] {
    return this.#notes.splice(0);
  }

  /** Withdraws open questions: their calls run nothing. */
  cancelQuestions(): void {
    this.parked.cancelAll();
  }

  /** Withdraws open questions and stops notifications. Sessions keep running. */
  close(): void {
    this.cancelQuestions();
    this.tasks.close();
    this.watches.close();
  }

  /** Whether sessions are running. Never rejects. */
  async isBusy(): Promise<boolean> {
    const conversation = await this.#conversation?.catch(() => undefined);
    return conversation !== undefined && (await listRunning(conversation)).length > 0;
  }

  /** Ends the running sessions. Never rejects. */
  async endSessions(): Promise<void> {
    const conversation = await this.#conversation?.catch(() => undefined);
    if (conversation === undefined) return;
    await endSessions(conversation, await listRunning(conversation));
  }
}

/** Ids of the running sessions in all environments. */
async function listRunning(conversation: Conversation): Promise<number[]> {
  const environments = conversation.listEnvironments();
  const perCall = environments.length > 1 ? environments.map(({ id }) => ({ environment_id: id })) : [{}];
  const lists = await Promise.all(perCall.map((args) => conversation.callTool("list_sessions", args)));
  return lists.flatMap((listed) => {
    const sessions = (!listed.isError && listed.structured?.sessions) || [];
    return sessions.filter(({ outcome }) => outcome.kind === "running").map(({ sessionId }) => sessionId);
  });
}
