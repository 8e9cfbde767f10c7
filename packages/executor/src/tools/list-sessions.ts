import { type ListedSession, type SessionList, STANDARD_TOOLS } from "@codex/executor-protocol";
import { defined, quote } from "@codex/values";
import type { Session } from "../sessions/session.js";
import { quoteWords } from "../text.js";
import { getOwners } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const listSessions: SessionTool = {
  spec: STANDARD_TOOLS.list_sessions,
  async call(_args, unifiedExec, scope) {
    const now = unifiedExec.now();
    const listed = getOwners(scope, unifiedExec).flatMap(({ table }) => table.list(scope.client));
    const sessions = await Promise.all(listed.map((session) => describe(session, now)));
    return { status: "success", content: [], structured: { sessions } satisfies SessionList };
  },
};

/** Maximum bytes of a command line in the list. */
const MAX_COMMAND_BYTES = 512;

async function describe(session: Session, now: number): Promise<ListedSession> {
  const { outcome, closed } = session.state;
  const running = outcome.kind === "running";
  // Input that was not read yet may change it.
  const directory =
    running && session.input.waitingBytes === 0 ? await session.process.getInputDirectory?.() : undefined;
  return {
    sessionId: session.id,
    command: quoteWords(session.command, MAX_COMMAND_BYTES),
    cwd: quote(session.cwd),
    ...defined({ inputDirectory: directory }),
    tty: session.stdio.kind === "pty",
    seconds: ((running ? now : (session.exitedAt ?? now)) - session.process.startedAt) / 1000,
    unreadBytes: session.unread,
    ...defined({ use: session.process.resources?.use }),
    outcome,
    closed,
    state: running ? "running" : outcome.kind === "exited" ? `exited with code ${outcome.code}` : outcome.kind,
  };
}
