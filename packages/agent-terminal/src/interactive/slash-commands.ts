import type { Thread, TurnRun } from "@codex/agent";
import { visibleText } from "@codex/policy/display";
import { renderThreadRows } from "../threads/list-threads.js";
import type { AgentSession } from "./agent-session.js";
import { renderHelp, type SlashCommand, type SlashName } from "./slash-command.js";

/** Follow-up actions of the conversation. */
export interface SlashOutcome {
  readonly leave?: boolean;
  /** Thread ids that can be selected by number. */
  readonly listed?: readonly string[];
  readonly resumed?: Thread;
  readonly turn?: (signal: AbortSignal) => TurnRun;
}

/** Context of a slash command. */
export interface SlashContext {
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Runs a slash command. @throws Error when it fails */
export async function runSlashCommand(
  command: SlashCommand,
  session: AgentSession,
  context: SlashContext,
): Promise<SlashOutcome> {
  if (command.kind === "known") return COMMANDS[command.name](session, command.argument, context);
  context.write(`there is no /${visibleText(command.word)}; /help lists the commands\n`);
  return {};
}

type Run = (session: AgentSession, argument: string, context: SlashContext) => Promise<SlashOutcome> | SlashOutcome;

const COMMANDS: Readonly<Record<SlashName, Run>> = {
  help(_session, _argument, { write }) {
    write(`${renderHelp()}\n`);
    return {};
  },
  async new(session, _argument, { write }) {
    await session.leaveThread();
    write("a new thread begins with the next message\n");
    return {};
  },
  async resume(session, argument, { write }) {
    const rows = await session.listThreads();
    const row = /^\d{1,4}$/.test(argument) ? rows[Number(argument) - 1] : undefined;
    if (argument !== "") return { resumed: await session.resumeThread(row?.id ?? argument) };
    if (rows.length === 0) write("there is no thread of this directory\n");
    else write(`${renderThreadRows(rows, { numbered: true })}a number continues that thread\n`);
    return { listed: rows.map(({ id }) => id) };
  },
  async model(session, argument, { write }) {
    if (argument !== "") await session.setModel(argument);
    write(`model: ${visibleText(session.describe().model ?? "")}\n`);
    return {};
  },
  status(session, _argument, { write }) {
    const { thread } = session;
    const tokens = thread?.usage;
    const count = (value: number) => value.toLocaleString("en-US");
    const facts = {
      ...session.describe(),
      thread: thread?.id ?? "none yet",
      tokens:
        tokens === undefined
          ? undefined
          : `${count(tokens.inputTokens)} in (${count(tokens.cachedInputTokens)} cached), ${count(tokens.outputTokens)} out`,
    };
    for (const [name, value] of Object.entries(facts))
      if (value !== undefined) write(`${name}: ${visibleText(value)}\n`);
    return {};
  },
  compact(session, _argument, { write }) {
    const { thread } = session;
    if (thread === undefined || thread.items.length === 0) {
      write("there is nothing to compact yet\n");
      return {};
    }
    return { turn: (signal) => thread.compact({ signal }) };
  },
  async diff(session, _argument, { write, signal }) {
    const text = visibleText(await session.diff(signal)).trimEnd();
    write(text === "" ? "nothing has changed\n" : `${text}\n`);
    return {};
  },
  async sessions(session, argument, { write }) {
    const [, id] = /^kill\s+(\d{1,9})$/.exec(argument) ?? [];
    if (id !== undefined) write(`session ${id} ${visibleText(await session.endSession(Number(id)))}\n`);
    else {
      const running = await session.listSessions();
      const lines = running?.map(({ sessionId, command }) => `session ${sessionId}: ${visibleText(command)}\n`);
      if (lines === undefined) write("the executor does not respond: what runs is unknown\n");
      else write(lines.length === 0 ? "nothing runs\n" : lines.join(""));
    }
    return {};
  },
  approvals(session, _argument, { write }) {
    write(`${visibleText(session.describeApprovals())}\n`);
    return {};
  },
  async view(session, _argument, { write }) {
    await session.openView((line) => write(`${visibleText(line)}\n`));
    return {};
  },
  quit: () => ({ leave: true }),
};
