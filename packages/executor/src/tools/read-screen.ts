import { getExitCode } from "@codex/exec-backend";
import { type Screen, STANDARD_TOOLS } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { asArguments, findOwner, getCount } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const readScreen: SessionTool = {
  spec: STANDARD_TOOLS.read_screen,
  async call(args, unifiedExec, scope) {
    const given = asArguments(args);
    const id = getCount(given, "session_id");
    const owner = findOwner(scope, unifiedExec, id);
    const session = owner.table.find(id, scope.client);
    const view = await owner.screens.read(session, scope.signal, given.styled === true);
    const { outcome, closed } = session.state;
    const rows = dropBlankEnd(view.rows);
    const shown = defined({ exitCode: getExitCode(outcome) });
    const structured = { sessionId: id, ...view, rows, outcome, closed, shown } satisfies Screen;
    return { status: "success", content: [], structured };
  },
};

function dropBlankEnd(rows: readonly string[]): string[] {
  return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
}
