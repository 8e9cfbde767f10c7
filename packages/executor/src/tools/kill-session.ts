import type { TerminationReceipt } from "@codex/exec-server";
import { renderOutcome } from "../sessions/render.js";
import type { Session } from "../sessions/session.js";
import { quote } from "../text.js";
import { asArguments, findOwner, getCount } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const killSession: SessionTool = {
  spec: {
    name: "kill_session",
    description:
      "Ends a session with every process of its group, asking first, and tells what was there and whether it is gone.",
    inputSchema: {
      type: "object",
      properties: { session_id: { type: "integer", description: "The session to end." } },
      required: ["session_id"],
      additionalProperties: false,
    },
  },
  async call(args, unifiedExec, scope) {
    const id = getCount(asArguments(args), "session_id");
    const killed = await unlessAborted(findOwner(scope, unifiedExec, id).kill(id), scope.signal);
    if (killed === undefined) {
      const text = `Session ${id} is being ended; the call was cancelled before it was gone.`;
      return { status: "success", content: [{ type: "input_text", text }], structured: { sessionId: id, gone: false } };
    }
    const { session, receipt } = killed;
    const text = renderReceipt(session, receipt);
    const { running, signals, gone, outcome } = receipt;
    const members = receipt.members?.slice(0, MAX_MEMBERS) ?? null;
    const memberCount = receipt.members?.length ?? null;
    const structured = {
      sessionId: id,
      running,
      members,
      memberCount,
      signals,
      gone,
      outcome,
      unreadBytes: session.unread,
    };
    return { status: "success", content: [{ type: "input_text", text }], structured };
  },
};

/** Processes of a group that are named. */
const MAX_MEMBERS = 64;

function renderReceipt(session: Session, receipt: TerminationReceipt): string {
  const { running, members, signals, gone, outcome } = receipt;
  const named = members?.slice(0, MAX_MEMBERS).map(({ pid, name }) => `${quote(name)} (pid ${pid})`) ?? [];
  const more = (members?.length ?? 0) - named.length;
  const group = [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const lines = [
    `Session ${session.id}: ${running ? "was running" : "had ended before"}`,
    renderOutcome(outcome, session.id),
    `Processes of its group: ${members === undefined ? "not known on this host" : group || "none"}`,
    `Signals sent: ${signals.join(", ") || "none"}`,
    gone ? "All of them are gone." : "Not all of them are gone: something of the group is still there.",
  ];
  if (session.unread > 0) {
    lines.push(
      `${session.unread} bytes of its output were not read yet: write_stdin with session_id ${session.id} reads them.`,
    );
  }
  return lines.join("\n");
}

/** Undefined when the signal aborts first; the work goes on. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const done = new AbortController();
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    done.abort();
  }
}
