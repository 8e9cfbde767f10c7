import { AuditFollower } from "@codex/audit";
import type { Orchestrator } from "@codex/orchestrator";
import { LIST_SESSIONS_MS, READ_AUDIT_MS } from "../limits.js";
import type { Action } from "../wire/messages.js";
import type { FromServer, ToServer } from "../wire/port.js";
import { markOf, readAudit } from "./audit-file.js";
import { Board, type Publisher } from "./board.js";
import { Calls } from "./calls.js";
import { ConversationPanel } from "./conversation.js";
import { Environments } from "./environments.js";
import { Items } from "./items.js";
import { Questions } from "./questions.js";
import { recordSession } from "./recordings.js";
import { SessionList } from "./session-list.js";
import { readSession } from "./session-reader.js";
import { Sessions } from "./sessions.js";
import { Typing } from "./typing.js";

/** Dependencies of a live view. */
export interface LiveViewContext {
  readonly publisher: Publisher;
  readonly send: (message: ToServer) => void;
  /** Keeps the process alive until the returned function is called. */
  readonly hold: () => () => void;
  /** Viewers may answer and type. */
  readonly answers: boolean;
  readonly onStop: (() => void) | undefined;
  readonly auditFile: string | undefined;
  readonly now: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Shows a running orchestrator: converts its events into entities, reads output for pages, handles requests of viewers. */
export class LiveView {
  readonly conversation: ConversationPanel;
  readonly #context: LiveViewContext;
  readonly #orchestrator: Orchestrator;
  readonly #board: Board;
  readonly #items: Items;
  readonly #environments: Environments;
  readonly #sessions: Sessions;
  readonly #calls: Calls;
  readonly #questions: Questions;
  readonly #list: SessionList;
  readonly #typing: Typing;
  readonly #reads = new Map<number, AbortController>();
  /** Recordings that are being made, by the number of their request. */
  readonly #recordings = new Map<number, AbortController>();
  readonly #endings: (() => void)[] = [];
  #poll: NodeJS.Timeout | undefined;
  #auditPoll: NodeJS.Timeout | undefined;
  #auditMark: string | undefined;
  #follower: AuditFollower | undefined;
  #isReadingAudit = false;
  #lastRecord = 0;

  constructor(orchestrator: Orchestrator, context: LiveViewContext) {
    const { now } = context;
    this.#orchestrator = orchestrator;
    this.#context = context;
    this.#board = new Board(context.publisher);
    const items = new Items(this.#board);
    this.#items = items;
    this.conversation = new ConversationPanel(this.#board, items);
    this.#environments = new Environments(orchestrator, this.#board);
    this.#sessions = new Sessions(orchestrator, this.#board, now, context.pause);
    this.#calls = new Calls(this.#sessions, items, now);
    this.#questions = new Questions(this.#board, now, context.hold);
    this.#list = new SessionList(orchestrator, this.#sessions, now);
    this.#typing = new Typing(orchestrator);
  }

  start(): void {
    this.conversation.change({});
    this.#environments.update();
    const unobserve = this.#orchestrator.observe((event) => {
      if (event.type === "environments_changed") this.#environments.update();
      else this.#calls.handle(event);
    });
    this.#endings.push(unobserve);
    if (this.#context.answers) this.#endings.push(this.#orchestrator.approvers.add(this.#questions.approver));
  }

  /** Idempotent. */
  close(): void {
    for (const end of this.#endings.splice(0)) end();
    this.#setViewers(0);
    this.#stopReads();
    this.#sessions.close();
    this.#items.settle();
    if (this.conversation.state !== "none") this.conversation.change({ state: "ended" });
    this.#board.flush();
  }

  restarted(): void {
    this.#setViewers(0);
    this.#stopReads();
    this.#board.publishAll();
  }

  receive(message: FromServer): void {
    switch (message.type) {
      case "read":
        return void this.#read(message.request, message.session, message.from);
      case "cancel":
        this.#reads.get(message.request)?.abort();
        return void this.#reads.delete(message.request);
      case "viewers":
        return this.#setViewers(message.count);
      case "action":
        return this.#act(message.viewer, message.action);
      case "recording":
        return void this.#record(message.request, message.session);
      case "cancel_recording":
        return this.#recordings.get(message.request)?.abort();
      case "listening":
      case "failed":
      case "admitted":
      case "token":
      case "closed":
        return;
    }
  }

  async #read(request: number, id: number, from: number): Promise<void> {
    const { send } = this.#context;
    const session = this.#sessions.get(id);
    if (session === undefined) return send({ type: "output", request, part: undefined });
    const given = new AbortController();
    this.#reads.set(request, given);
    const part = await session.feed.read(from, given.signal);
    this.#reads.delete(request);
    if (!given.signal.aborted) send({ type: "output", request, part });
  }

  async #record(request: number, id: number): Promise<void> {
    const session = this.#sessions.get(id);
    const given = new AbortController();
    this.#recordings.set(request, given);
    const read = (from: number, signal: AbortSignal) =>
      readSession(this.#orchestrator, session!.entity, { from, waitMs: 0 }, signal);
    const text = session === undefined ? undefined : await recordSession(session, read, given.signal);
    if (this.#recordings.get(request) === given) this.#recordings.delete(request);
    this.#context.send({ type: "recording", request, text });
  }

  async #readAudit(file: string): Promise<void> {
    if (this.#isReadingAudit) return;
    this.#isReadingAudit = true;
    try {
      const mark = await markOf(file);
      if (mark === undefined || mark === this.#auditMark) return;
      this.#auditMark = mark;
      this.#follower ??= new AuditFollower(file);
      const { records, chain } = await readAudit(file, this.#follower);
      for (const record of records) if (record.id > this.#lastRecord) this.#board.set(record);
      this.#lastRecord = Math.max(this.#lastRecord, records.at(-1)?.id ?? 0);
      this.conversation.change({ chain });
    } finally {
      this.#isReadingAudit = false;
    }
  }

  #stopReads(): void {
    for (const given of [...this.#reads.values(), ...this.#recordings.values()]) given.abort();
    this.#reads.clear();
    this.#recordings.clear();
  }

  /** Looks for sessions of other orchestrators only while a page is connected. */
  #setViewers(count: number): void {
    this.#sessions.setWatched(count > 0);
    if (count === 0) {
      clearInterval(this.#poll);
      clearInterval(this.#auditPoll);
      this.#poll = undefined;
      return;
    }
    if (this.#poll !== undefined) return;
    const look = () => {
      this.#environments.update();
      void this.#list.update();
    };
    look();
    this.#poll = setInterval(look, LIST_SESSIONS_MS).unref();
    const { auditFile } = this.#context;
    if (auditFile === undefined) return;
    void this.#readAudit(auditFile);
    this.#auditPoll = setInterval(() => void this.#readAudit(auditFile), READ_AUDIT_MS).unref();
  }

  #act(viewer: string, action: Action): void {
    const notify = (text: string, isProblem = true) => this.#context.send({ type: "notice", viewer, text, isProblem });
    if (!this.#context.answers) return notify("This view is read-only.");
    switch (action.type) {
      case "answer": {
        const { text, isProblem } = this.#questions.answer(action, viewer);
        return notify(text, isProblem);
      }
      case "input": {
        const session = this.#sessions.get(action.session);
        if (session?.entity.canType !== true) return notify("Nothing can be typed into this session.");
        return this.#typing.type(session, action.text, notify);
      }
      case "stop":
        if (this.#context.onStop === undefined) return notify("There is no turn that could be ended here.");
        this.#context.onStop();
        return notify("The turn ends.", false);
    }
  }
}
