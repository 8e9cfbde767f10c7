import { waitUnlessAborted } from "@codex/clock";
import type { TerminationReceipt } from "@codex/exec-backend";
import { type KilledSession, STANDARD_TOOLS } from "@codex/executor-protocol";
import { renderOutcome } from "../sessions/render.js";
import type { Session } from "../sessions/session.js";
import { quote } from "../text.js";
import { asArguments, findOwner, getCount } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const killSession: SessionTool = {
  spec: STANDARD_TOOLS.kill_session,
  async call(args, unifiedExec, scope) {
    const id = getCount(asArguments(args), "session_id");
    const killed = await waitUnlessAborted(scope.signal, findOwner(scope, unifiedExec, id).kill(id, scope.client));
    if (killed === undefined) {
      const text = `Session ${id} is being ended; the call was cancelled before it was gone.`;
      const structured: KilledSession = { sessionId: id, gone: false };
      return { status: "success", content: [{ type: "input_text", text }], structured };
    }
    const { session, receipt } = killed;
    const text = renderReceipt(session, receipt);
    const { running, signals, gone, outcome } = receipt;
    const members = receipt.members?.slice(0, MAX_MEMBERS) ?? null;
    const memberCount = receipt.members?.length ?? null;
    const strays = receipt.strays?.slice(0, MAX_MEMBERS) ?? null;
    const strayCount = receipt.strays?.length ?? null;
    const structured: KilledSession = {
      sessionId: id,
      running,
      members,
      memberCount,
      strays,
      strayCount,
      signals: [...signals],
      gone,
      outcome,
      unreadBytes: session.unread,
    };
    return { status: "success", content: [{ type: "input_text", text }], structured };
  },
};

/** Processes that are named: at most as many within the group as outside of it. */
const MAX_MEMBERS = 64;

function renderReceipt(session: Session, receipt: TerminationReceipt): string {
  const { running, members, strays, signals, gone, outcome } = receipt;
  // A far host that cannot list processes, or whose answer was lost.
  const isUnknown = !gone && members === undefined;
  const rest = isUnknown
    ? "Whether all of them are gone is not known."
    : "Not all of them are gone: a process that it started still exists.";
  const lines = [
    `Session ${session.id}: ${running ? "was running" : "had ended before"}`,
    renderOutcome(outcome, session.id),
    `Processes of its group: ${renderProcesses(members)}`,
    ...(strays?.length === 0 ? [] : [`Processes that had left its group: ${renderProcesses(strays)}`]),
    `Signals sent: ${signals.join(", ") || (isUnknown ? "none is known" : "none")}`,
    gone ? "All of them are gone." : rest,
  ];
  if (session.unread > 0) {
    lines.push(
      `${session.unread} bytes of its output were not read yet: write_stdin with session_id ${session.id} reads them.`,
    );
  }
  return lines.join("\n");
}

function renderProcesses(processes: TerminationReceipt["members"]): string {
  if (processes === undefined) return "not known on this host";
  const named = processes.slice(0, MAX_MEMBERS).map(({ pid, name }) => `${quote(name)} (pid ${pid})`);
  const more = processes.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ") || "none";
}
