import { waitUnlessAborted } from "@codex/clock";
import { getExitCode } from "@codex/exec-backend";
import { type KilledSession, STANDARD_TOOLS } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { asArguments, findOwner, getCount } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const killSession: SessionTool = {
  spec: STANDARD_TOOLS.kill_session,
  async call(args, unifiedExec, scope) {
    const id = getCount(asArguments(args), "session_id");
    const killed = await waitUnlessAborted(scope.signal, findOwner(scope, unifiedExec, id).kill(id, scope.client));
    if (killed === undefined) {
      return { status: "success", content: [], structured: { sessionId: id, gone: false } satisfies KilledSession };
    }
    const { session, receipt } = killed;
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
      shown: defined({ exitCode: getExitCode(outcome) }),
    };
    return { status: "success", content: [], structured };
  },
};

/** Processes that are named: at most as many within the group as outside of it. */
const MAX_MEMBERS = 64;
