import { type ApprovalRequest, renderAllowRule } from "@codex/orchestrator";
import { describeSandbox } from "./describe-sandbox.js";
import { quoteWords, visible } from "./visible.js";

/**
 * What a person needs for deciding. What others wrote stays in its column and in bounds: a command must not repaint the
 * question, nor look like a line of it. `width`: columns of the terminal.
 */
export function describeRequest(
  request: ApprovalRequest,
  rulesFile: string,
  highlight: (text: string) => string,
  width = Number.POSITIVE_INFINITY,
): string {
  const { command, cwd, environment, reason, justification, proposedAmendment, availableDecisions } = request;
  const rule = availableDecisions.includes("accept_and_save") ? proposedAmendment : null;
  const show = (label: string, text: string, paint = (line: string) => line) =>
    foldLines(visible(text), width - MARGIN)
      .map((line, at) => `  ${at === 0 ? label.padEnd(13) : CONTINUED}${paint(line)}`)
      .join("\n");
  const lines = [
    "",
    show("command", quoteWords(command), highlight),
    show("directory", cwd),
    show("environment", environment),
    show("sandbox", describeSandbox(request.sandbox)),
    ...describeExtra(request).map((line) => show("asks for", line)),
    ...describeEarlierRun(request).map((line) => show("already ran", line)),
    show("reason", shorten(reason)),
    ...(justification === null ? [] : [show("the model", shorten(justification))]),
    ...(rule === null ? [] : [show("rule to save", renderAllowRule(rule)), show("saved to", rulesFile)]),
    "",
  ];
  return lines.join("\n");
}

/** Columns in front of a value. */
const MARGIN = 15;
/** In front of every further line of a value. */
const CONTINUED = "           | ";

/** Lines that a terminal does not fold again; what is not plain ASCII may take two columns. */
function foldLines(text: string, width: number): string[] {
  if (width < MIN_WIDTH) return foldLines(text, MIN_WIDTH);
  return text.split("\n").flatMap((line) => {
    const rows = [""];
    let used = 0;
    for (const character of line) {
      const columns = character === "\t" ? 8 : character <= "~" ? 1 : 2;
      if (used + columns > width) {
        rows.push("");
        used = 0;
      }
      rows[rows.length - 1] += character;
      used += columns;
    }
    return rows;
  });
}

const MIN_WIDTH = 20;

/** What is told beside a command must not push it off the screen. */
const shorten = (text: string): string =>
  text.length <= MAX_TOLD ? text : `${text.slice(0, MAX_TOLD)}… (${text.length - MAX_TOLD} more characters)`;

/** Characters of a reason or justification that are shown. */
const MAX_TOLD = 1_000;

function describeExtra({ additionalPermissions }: ApprovalRequest): string[] {
  const { file_system: files, network } = (additionalPermissions ?? {}) as {
    file_system?: { read?: string[]; write?: string[] };
    network?: { enabled?: boolean };
  };
  return [
    ...(files?.read ?? []).map((path) => `reading ${path}`),
    ...(files?.write ?? []).map((path) => `writing ${path}`),
    ...(network?.enabled === true ? ["the network"] : []),
  ];
}

function describeEarlierRun({ afterDenial }: ApprovalRequest): string[] {
  if (afterDenial === null) return [];
  const { certain, exitCode } = afterDenial;
  const cause = certain ? "until the sandbox refused something" : "and failed, perhaps because of the sandbox";
  const code = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
  return [`in its sandbox, in part, ${cause}${code}; what it did is done, and would be done again`];
}
