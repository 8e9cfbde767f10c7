import { getExitCode } from "@codex/exec-backend";
import { type OutputPart, STANDARD_TOOLS } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { decodeOutput } from "../output/decode-output.js";
import { findCharacterEnd, getGaps, skipForward } from "../output/slice.js";
import type { Session } from "../sessions/session.js";
import { asArguments, findOwner, getCount } from "./arguments.js";
import { readRecorded } from "./recorded-output.js";
import type { SessionTool } from "./session-tool.js";

const DEFAULT_TOKENS = 10_000;

export const readOutput: SessionTool = {
  spec: STANDARD_TOOLS.read_output,
  async call(args, unifiedExec, scope) {
    const given = asArguments(args);
    const id = getCount(given, "session_id");
    const session = findOwner(scope, unifiedExec, id).table.find(id, scope.client);
    const tokens = getCount(given, "max_output_tokens", DEFAULT_TOKENS);
    const { budgetBytes, notices } = unifiedExec.bound({ yieldTimeMs: 0, maxOutputTokens: tokens });
    if (given.chunks === true)
      return readRecorded(session, toRecordedRequest(given, budgetBytes), unifiedExec.clock, scope);
    const part = await readPart(session, getCount(given, "from", 0), budgetBytes);
    const { chunks, ...described } = part;
    const structured: OutputPart = {
      ...described,
      notices,
      shown: {
        ...defined({ exitCode: getExitCode(part.outcome), evictionReason: session.evictionReason }),
        output: decodeOutput(chunks),
      },
    };
    return { status: "success", content: [], structured };
  },
};

const toRecordedRequest = (given: Readonly<Record<string, unknown>>, budgetBytes: number) => ({
  from: getCount(given, "from", 0),
  waitMs: getCount(given, "wait_ms", 0),
  budgetBytes,
});

/** Retained output from an offset on, up to a budget of bytes, and its evicted ranges. */
async function readPart(session: Session, requestedFrom: number, budgetBytes: number) {
  const { log } = session.process;
  const { end, closed, outcome } = session.state;
  const from = Math.min(requestedFrom, end);
  const wanted = Math.min(end, skipForward(from, budgetBytes, log.getEvicted(from, end)));
  const to = wanted === end && closed ? end : await findCharacterEnd(log, from, wanted);
  const { chunks } = await log.read(from, to);
  return {
    sessionId: session.id,
    range: { from, to },
    end,
    closed,
    outcome,
    gone: getGaps(chunks, { from, to }),
    chunks,
  };
}
