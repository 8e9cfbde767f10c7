import type { StandardToolName, StandardToolResults } from "../tool-results.js";
import type { ToolCallOutcome } from "../tools.js";
import type { UnifiedExecResult } from "../unified-exec-result.js";
import { listNotices, renderExecResult } from "./exec-result.js";
import { renderOutput } from "./output.js";
import { renderKilledSession, renderOutputPart, renderScreen, renderSessionList } from "./session-tools.js";

/** The result of a standard tool: as a model reads it, and for programs. */
export interface PresentedResult<Result> {
  text: string;
  /** Without `shown`. */
  structured: Result;
  /** The part of the text that is output of the program; only of a unified-exec result. */
  output?: string;
}

/** Renders the result of a standard tool whose `shown` is filled in. */
export const presentResult = <Name extends StandardToolName>(
  name: Name,
  result: StandardToolResults[Name],
): PresentedResult<StandardToolResults[Name]> => PRESENTERS[name](result);

type Presenter<Result> = (result: Result) => PresentedResult<Result>;

const PRESENTERS: { readonly [Name in StandardToolName]: Presenter<StandardToolResults[Name]> } = {
  exec_command: presentExecResult,
  write_stdin: presentExecResult,
  list_sessions: (structured) => ({ text: renderSessionList(structured), structured }),
  kill_session: ({ shown, ...structured }) => ({ text: renderKilledSession(structured, shown), structured }),
  read_output: ({ shown, ...structured }) => ({ text: renderOutputPart(structured, shown), structured }),
  read_screen: ({ shown, ...structured }) => ({ text: renderScreen(structured, shown), structured }),
};

function presentExecResult(result: UnifiedExecResult): PresentedResult<UnifiedExecResult> {
  const { shown: _, ...structured } = result;
  const notices = listNotices(result);
  const output = renderOutput(result.range, result.shown?.output);
  return {
    output,
    text: renderExecResult(result, output),
    structured: notices.length === 0 ? structured : { ...structured, notices },
  };
}

type Failure = Extract<ToolCallOutcome, { status: "error" }>;

/** The message of an error outcome, with the session that it is about. */
export function renderFailure({ message, code, sessionId }: Failure): string {
  if (sessionId === undefined) return message;
  return code === UNKNOWN_SESSION ? `unknown session ${sessionId}; ${message}` : `session ${sessionId} ${message}`;
}

/** Code of an error outcome: there is no such session. */
export const UNKNOWN_SESSION = "unknown_session";
