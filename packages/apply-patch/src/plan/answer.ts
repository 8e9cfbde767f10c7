import { MAX_LISTED_PROBLEMS } from "../limits.js";
import type { PatchProblem } from "../patch.js";
import { quoteLine } from "../quote.js";
import type { Planned, PlannedChange } from "./plan.js";

/** Result text of an applied patch. */
export function renderSuccess(changes: readonly PlannedChange[], seconds: number): string {
  const names = (kind: PlannedChange["kind"], letter: string) =>
    changes
      .filter((change) => change.kind === kind)
      .map(({ shownPath, shownMoveTo }) => `${letter} ${shownMoveTo ?? shownPath}`);
  const lines = [...names("add", "A"), ...names("update", "M"), ...names("delete", "D")];
  return renderRun(0, seconds, ["Success. Updated the following files:", ...lines].join("\n"));
}

/** Result text of a patch that failed while it was applied; `text` describes the state of the files. */
export const renderFailure = (text: string, seconds: number): string => renderRun(1, seconds, text);

const renderRun = (exitCode: number, seconds: number, text: string): string =>
  `Exit code: ${exitCode}\nWall time: ${Number(seconds.toFixed(1))} seconds\nOutput:\n${text}\n`;

/** Result text of a patch that cannot be parsed. */
export const renderProblem = ({ message }: PatchProblem): string => `${FAILED}${message}\n${UNTOUCHED}`;

/** Result text of a patch that does not match the files. */
export function renderProblems({ problems, applied }: Extract<Planned, { ok: false }>): string {
  const listed = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ message }) => message);
  const more = problems.length - listed.length;
  const rest = more > 0 ? [`… and ${more} more problems`] : [];
  const done = applied.length === 0 ? [] : [describeApplied(applied)];
  return `${FAILED}${[...listed, ...rest, ...done, UNTOUCHED].join("\n")}`;
}

function describeApplied(applied: readonly string[]): string {
  const named = applied.map((path) => `'${quoteLine(path)}'`).join(", ");
  return `Already as this patch leaves them: ${named}. If an earlier try got that far, send only the rest.`;
}

const FAILED = "apply_patch verification failed: ";
const UNTOUCHED = "Nothing was changed.";
