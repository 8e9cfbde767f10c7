import { type ApprovalRequest, proposedRule } from "@codex/orchestrator";
import { fileOfRule, renderAllowRule } from "@codex/policy";
import { quoteWords, visible } from "@codex/policy/display";
import { cutEnd } from "@codex/values";
import { describeSandbox } from "./describe-sandbox.js";

/** Size of the terminal. */
export interface QuestionSize {
  /** Columns; unlimited by default. */
  width?: number | undefined;
  /** Rows; lines that would scroll the start off the screen are omitted. Unlimited by default. */
  rows?: number | undefined;
}

/**
 * Renders an approval request. Untrusted text stays in its column and within bounds: a command must not repaint the prompt,
 * imitate one of its lines, or scroll its own start off the screen.
 */
export function describeRequest(
  request: ApprovalRequest,
  rulesFile: string,
  highlight: (text: string) => string,
  { width = Number.POSITIVE_INFINITY, rows = Number.POSITIVE_INFINITY }: QuestionSize = {},
): string {
  const [command, ...others] = listFields(request, rulesFile).map(
    ({ label, text }): Shown => ({ label, lines: foldLines(visible(text), width - MARGIN) }),
  );
  const each = Math.max(
    1,
    Math.min(MAX_OTHER_ROWS, Math.floor((rows - RESERVED_ROWS - MIN_COMMAND_ROWS) / others.length)),
  );
  const below = (rows === Number.POSITIVE_INFINITY ? others : limitExtras(others)).flatMap((field) =>
    renderField(field, rows === Number.POSITIVE_INFINITY ? rows : each, 0),
  );
  const left = Math.max(MIN_COMMAND_ROWS, rows - RESERVED_ROWS - below.length);
  const above = command === undefined ? [] : renderField(command, left, Math.floor(left / 3), highlight);
  return ["", ...above, ...below, ""].join("\n");
}

/** Rows of the prompt itself: an empty one before and after, and the choices. */
const RESERVED_ROWS = 5;
const MIN_COMMAND_ROWS = 5;
/** Maximum rows of a field other than the command. */
const MAX_OTHER_ROWS = 4;
/** Maximum number of additional permissions listed. */
const MAX_EXTRAS = 3;
/** Hint for omitted lines. */
const ALL = "[v]iew shows all of it";

interface Field {
  label: string;
  text: string;
}

interface Shown {
  label: string;
  lines: readonly string[];
}

/** Fields of a request, the command first. */
function listFields(request: ApprovalRequest, rulesFile: string): Field[] {
  const { command, cwd, environment, reason, justification } = request;
  const rule = proposedRule(request);
  const field = (label: string, text: string): Field => ({ label, text });
  return [
    field("command", quoteWords(command)),
    field("directory", cwd),
    field("environment", environment),
    field("sandbox", describeSandbox(request.sandbox)),
    ...describeExtra(request).map((line) => field(EXTRA, line)),
    ...describeEarlierRun(request).map((line) => field("already ran", line)),
    field("reason", shorten(reason)),
    ...(justification === null ? [] : [field("the model", shorten(justification))]),
    ...(rule === undefined
      ? []
      : [field("rule to save", renderAllowRule(rule)), field("saved to", fileOfRule(rulesFile, rule))]),
  ];
}

const EXTRA = "asks for";

function limitExtras(fields: readonly Shown[]): Shown[] {
  const first = fields.findIndex(({ label }) => label === EXTRA);
  const count = fields.filter(({ label }) => label === EXTRA).length;
  if (count <= MAX_EXTRAS) return [...fields];
  const more: Shown = { label: EXTRA, lines: [`${count - MAX_EXTRAS} more things: ${ALL}`] };
  return [...fields.slice(0, first + MAX_EXTRAS), more, ...fields.slice(first + count)];
}

/** Renders at most `rows` rows, the last `tail` of them from the end. The notice of omitted lines is in a column that no value reaches. */
function renderField({ label, lines }: Shown, rows: number, tail: number, paint = (line: string) => line): string[] {
  const render = (line: string, at: number) => `  ${at === 0 ? label.padEnd(13) : CONTINUED}${paint(line)}`;
  if (lines.length <= rows) return lines.map(render);
  if (rows === 1) return [`${render((lines[0] ?? "").slice(0, -LEFT_OUT.length), 0)}${LEFT_OUT}`];
  const head = rows - 1 - tail;
  const notice = `${" ".repeat(MARGIN - 2)}… ${lines.length - head - tail} more lines here: ${ALL}`;
  return [
    ...lines.slice(0, head).map(render),
    notice,
    ...lines.slice(lines.length - tail).map((line) => render(line, 1)),
  ];
}

const LEFT_OUT = " … [v]";

/** Columns before a value. */
const MARGIN = 15;
/** Prefix of every further line of a value. */
const CONTINUED = "           | ";

/** Folds lines so that the terminal does not wrap them; a non-ASCII character counts as two columns. */
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

/** Other text must not scroll the command off the screen. */
const shorten = (text: string): string =>
  text.length <= MAX_REASON_CHARS
    ? text
    : `${cutEnd(text, MAX_REASON_CHARS)}… (${text.length - MAX_REASON_CHARS} more characters)`;

/** Characters shown of a reason or justification. */
const MAX_REASON_CHARS = 1_000;

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
