import type { ContentPart, Thread, TurnRun } from "@codex/agent";
import { type Clock, waitUnlessAborted } from "@codex/clock";
import { visibleText } from "@codex/policy/display";
import { messageOf } from "@codex/values";
import type { Paint } from "../exec/text-view.js";
import { type Key, KeyReader } from "../input/keys.js";
import { LineEditor } from "../input/line-editor.js";
import { LEAVE_MS, QUEUED_MESSAGES, TICK_MS } from "../limits.js";
import { type Region, Screen } from "../screen/screen.js";
import { listMessages } from "../threads/user-messages.js";
import type { AgentSession } from "./agent-session.js";
import type { ConversationTerminal } from "./conversation-terminal.js";
import { ConversationView } from "./conversation-view.js";
import { Questions, type QuestionTerminal } from "./questions.js";
import { ANYTIME, parseSlashCommand, type SlashCommand } from "./slash-command.js";
import { runSlashCommand } from "./slash-commands.js";

/** Interface of a conversation for the code that opens its agent. */
export interface ConversationHandle {
  /** Runs a dialog with the user, which controls the terminal in the meantime. */
  ask<T>(dialog: (terminal: QuestionTerminal) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Shows complete lines above the input. */
  write(text: string): void;
}

/** Options of {@link TerminalConversation}. */
export interface TerminalConversationOptions {
  readonly terminal: ConversationTerminal;
  /** First line. */
  readonly title: string;
  /** Opens the agent; input is queued in the meantime. */
  readonly open: (handle: ConversationHandle) => Promise<AgentSession>;
  /** First message. */
  readonly prompt: string | undefined;
  readonly images: readonly ContentPart[];
  /** Start with the list of resumable threads. */
  readonly picks: boolean;
  readonly paint: Paint;
  readonly clock: Clock;
  /** Stops this process until it is continued. */
  readonly suspend: () => void;
  /** Exits the process immediately, without waiting for cleanup. */
  readonly abandon: () => void;
}

/** An interactive conversation at a terminal: output scrolls, and the region at the bottom is redrawn. */
export class TerminalConversation implements ConversationHandle {
  readonly #options: TerminalConversationOptions;
  readonly #screen: Screen;
  readonly #view: ConversationView;
  readonly #editor = new LineEditor();
  readonly #keys: KeyReader;
  readonly #questions: Questions;
  readonly #leave = new AbortController();
  #queue: string[] = [];
  #wake = () => {};
  #images: readonly ContentPart[];
  #session: AgentSession | undefined;
  /** Aborts the running turn or slash command. */
  #stop: AbortController | undefined;
  #interruptedAt = Number.NEGATIVE_INFINITY;
  /** Thread ids that can be selected by number. */
  #listed: readonly string[] = [];
  #cancelTick = () => {};

  constructor(options: TerminalConversationOptions) {
    this.#options = options;
    const { terminal, paint, clock, images } = options;
    this.#images = images;
    this.#screen = new Screen({
      output: terminal.sink,
      size: () => terminal.size(),
      region: (size) => this.#layOut(size),
      clock,
      paintStatus: (row) => paint("faint", row),
      reflows: terminal.reflows,
      canDraw: terminal.canDraw,
    });
    this.#view = new ConversationView({ log: this.#screen, onChange: () => this.#screen.changed(), paint, clock });
    this.#keys = new KeyReader(clock, (key) => this.#onKey(key));
    this.#questions = new Questions({
      output: terminal.output,
      clock,
      isTyping: () => !this.#editor.draft.isEmpty,
      onOpen: () => this.#screen.hold(),
      onClose: () => this.#screen.release(),
    });
  }

  /** Runs the conversation until the user leaves. @throws any error of `open` */
  async run(): Promise<void> {
    const { terminal, title, prompt, open } = this.#options;
    terminal.onInput((bytes) => this.#keys.push(bytes));
    terminal.onEnd(() => this.leave());
    terminal.onResize(() => this.#screen.draw());
    terminal.take();
    try {
      this.write(`${title}\n`);
      if (prompt !== undefined) this.#submit(prompt, prompt);
      this.#screen.draw();
      const opening = open(this);
      const session = await waitUnlessAborted(this.#leave.signal, opening);
      if (session === undefined) return void (await (await opening).close());
      this.#session = session;
      try {
        await this.#converse(session);
      } finally {
        await this.#end(session);
      }
    } finally {
      this.restore();
    }
  }

  ask<T>(dialog: (terminal: QuestionTerminal) => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#questions.ask(dialog, signal);
  }

  write(text: string): void {
    void this.#screen.write(text);
  }

  /** Handles Ctrl-C: interrupts the turn or clears the input; a second one leaves. */
  interrupt(): void {
    const now = this.#options.clock.now();
    const isSecond = now - this.#interruptedAt < LEAVE_MS;
    this.#interruptedAt = now;
    if (this.#leave.signal.aborted) return this.#options.abandon();
    if (isSecond) return this.leave();
    if (this.#stop !== undefined) this.#stop.abort(new Error("the turn was interrupted by the user"));
    else if (!this.#editor.draft.isEmpty) this.#editor.draft.set("");
    else this.write("Ctrl-C again leaves\n");
    this.#screen.draw();
  }

  /** Ends the turn and the conversation. Idempotent. */
  leave(): void {
    this.#leave.abort(new Error("the conversation is over"));
    this.#stop?.abort(new Error("the turn was interrupted: the conversation is over"));
    this.#wake();
  }

  /** Restores the terminal. Idempotent, synchronous. */
  restore(): void {
    this.#cancelTick();
    this.#keys.close();
    this.#screen.close();
    this.#options.terminal.release();
    this.#options.terminal.close();
  }

  async #converse(session: AgentSession): Promise<void> {
    this.#showFacts(session);
    const { thread } = session;
    if (thread !== undefined) this.#recall(thread);
    if (this.#options.picks) await this.#command(session, { kind: "known", name: "resume", argument: "" });
    for (;;) {
      const text = await this.#nextMessage();
      if (text === undefined) return;
      await this.#handle(session, text).catch((error: unknown) => {
        this.write(`${this.#options.paint("bad", `error: ${visibleText(messageOf(error))}`)}\n`);
      });
    }
  }

  #showFacts(session: AgentSession): void {
    const facts = Object.entries(session.describe()).filter(([, value]) => value !== undefined);
    const lines = facts.map(([name, value]) => `${name}: ${visibleText(value ?? "").replaceAll("\n", "\\n")}\n`);
    this.write(this.#options.paint("faint", lines.join("").trimEnd()).concat("\n"));
  }

  /** Undefined when the user leaves. */
  async #nextMessage(): Promise<string | undefined> {
    const { terminal } = this.#options;
    if (!terminal.canDraw && this.#queue.length === 0) void terminal.sink.write("› ");
    while (this.#queue.length === 0) {
      if (this.#leave.signal.aborted) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#leave.signal.aborted ? undefined : this.#queue.shift();
  }

  async #handle(session: AgentSession, text: string): Promise<void> {
    const picked = /^\d{1,4}$/.test(text.trim()) ? this.#listed[Number(text) - 1] : undefined;
    this.#listed = [];
    if (picked !== undefined) return this.#command(session, { kind: "known", name: "resume", argument: picked });
    const command = parseSlashCommand(text);
    if (command !== undefined) return this.#command(session, command);
    const images = this.#images;
    this.#images = [];
    const thread = await session.openThread();
    await this.#turn(session, (signal) =>
      thread.run([...images, { type: "input_text", text: text.trim() }], { signal }),
    );
  }

  async #command(session: AgentSession, command: SlashCommand): Promise<void> {
    const stop = new AbortController();
    const isOwn = this.#stop === undefined;
    if (isOwn) this.#stop = stop;
    try {
      const done = await runSlashCommand(command, session, { write: (text) => this.write(text), signal: stop.signal });
      this.#listed = done.listed ?? [];
      if (done.leave === true) this.leave();
      if (done.resumed !== undefined) this.#recall(done.resumed);
      if (done.turn !== undefined) await this.#turn(session, done.turn);
    } finally {
      if (this.#stop === stop) this.#stop = undefined;
    }
  }

  /** Runs and shows a turn. Commands that still run are listed; after an interrupt they are ended. */
  async #turn(session: AgentSession, start: (signal: AbortSignal) => TurnRun): Promise<void> {
    const before = new Set((await session.listSessions())?.map(({ sessionId }) => sessionId));
    const stop = new AbortController();
    this.#stop = stop;
    if (this.#leave.signal.aborted) stop.abort();
    this.#tick();
    try {
      const run = start(stop.signal);
      for await (const event of run) {
        // Before the end is shown: later input was typed knowing about it.
        if (event.type === "turn_failed") this.#unqueue();
        if (event.type === "turn_failed" || event.type === "turn_completed") this.#stop = undefined;
        await this.#view.show(event);
      }
      await run.result;
    } finally {
      this.#stop = undefined;
      this.#cancelTick();
    }
    const running = await session.listSessions();
    if (running === undefined) return this.write(UNKNOWN_SESSIONS);
    for (const { sessionId, command } of running.filter((each) => !before.has(each.sessionId))) {
      const ended = stop.signal.aborted ? await session.endSession(sessionId) : undefined;
      const fate = ended === undefined ? "still runs; /sessions lists what does" : `still ran and ${ended}`;
      this.write(`session ${sessionId} ${visibleText(fate)}: ${visibleText(command)}\n`);
    }
  }

  /** Moves queued messages back to the input after a failed turn. */
  #unqueue(): void {
    const waiting = this.#queue.splice(0);
    if (waiting.length === 0) return;
    const { draft } = this.#editor;
    draft.set([...waiting, ...(draft.isEmpty ? [] : [draft.text])].join("\n"));
  }

  /** Shows the end of a resumed thread, and adds its prompts to the history. */
  #recall(thread: Thread): void {
    const said = listMessages(thread.items);
    for (const { role, text } of said) if (role === "user") this.#editor.remember(text);
    this.write(`thread ${thread.id}, ${said.filter(({ role }) => role === "user").length} messages before this\n`);
    for (const { role, text } of said.slice(-2)) {
      const name = this.#options.paint("heading", role === "user" ? "›" : "codex\n");
      this.write(`${name}${role === "user" ? " " : ""}${visibleText(text)}\n`);
    }
  }

  async #end(session: AgentSession): Promise<void> {
    const running = await session.listSessions();
    if (running === undefined) this.write(UNKNOWN_SESSIONS);
    for (const { sessionId, command } of running ?? []) {
      this.write(`session ${sessionId} still ran and is ended: ${visibleText(command)}\n`);
    }
    const { thread } = session;
    if (thread !== undefined) this.write(`codex resume ${thread.id} continues this thread\n`);
    await session.close();
  }

  #onKey(key: Key): void {
    if (key.name === "interrupt") return this.interrupt();
    this.#interruptedAt = Number.NEGATIVE_INFINITY;
    if (this.#questions.isOpen && (key.name === "end_of_input" || this.#questions.take(key))) return;
    const { draft } = this.#editor;
    if (key.name === "end_of_input") {
      if (draft.isEmpty) return this.leave();
      draft.remove(1);
    } else if (key.name === "suspend") return this.#suspend();
    else {
      const action = this.#editor.handle(key);
      if (action.type === "submitted") this.#submit(action.text, action.shown);
    }
    this.#screen.changed();
  }

  #submit(text: string, shown: string): void {
    const command = parseSlashCommand(text);
    const session = this.#session;
    const { terminal, paint } = this.#options;
    const isNow = this.#stop === undefined && this.#queue.length === 0;
    if (this.#queue.length >= QUEUED_MESSAGES) {
      this.#editor.draft.set(text);
      return this.write(`${QUEUED_MESSAGES} messages are already queued\n`);
    }
    const mark = isNow ? "" : "(waits) ";
    const isAnytime = command?.kind === "known" && ANYTIME.has(command.name);
    const lines = visibleText(shown).replaceAll("\n", "\n  ");
    if (terminal.canDraw) this.write(`${paint("heading", "›")} ${isAnytime ? "" : mark}${lines}\n`);
    if (isAnytime && session !== undefined && this.#stop !== undefined) {
      return void this.#command(session, command).catch((error: unknown) => this.write(`${messageOf(error)}\n`));
    }
    this.#queue.push(text);
    this.#wake();
  }

  #suspend(): void {
    const { terminal, suspend } = this.#options;
    this.#screen.hold();
    terminal.release();
    suspend();
    terminal.take();
    this.#screen.release();
  }

  #tick(): void {
    this.#cancelTick();
    this.#cancelTick = this.#options.clock.after(TICK_MS, () => {
      if (this.#view.hasRunning) this.#screen.changed();
      this.#tick();
    });
  }

  #layOut({ columns, rows }: { columns: number; rows: number }): Region {
    const prefix = columns > PREFIX.length + 1 ? PREFIX : "";
    const text = this.#editor.draft.layOut(columns - prefix.length - 1);
    const room = Math.max(1, Math.min(rows - 1, Math.max(1, Math.floor(rows / 2))));
    const from = Math.max(0, Math.min(text.cursorRow, text.rows.length - room));
    const lead = (row: number) => (row === 0 ? prefix : " ".repeat(prefix.length));
    const input = text.rows.slice(from, from + room).map((row, index) => `${lead(from + index)}${row}`);
    const waiting = this.#queue.length === 0 || this.#stop === undefined ? [] : [`${this.#queue.length} waiting`];
    return {
      status: [...this.#view.rows(columns), ...waiting],
      input,
      cursorRow: text.cursorRow - from,
      beforeCursor: `${lead(text.cursorRow)}${text.beforeCursor}`,
    };
  }
}

const PREFIX = "› ";
const UNKNOWN_SESSIONS = "the executor does not respond: what still runs there is unknown\n";
