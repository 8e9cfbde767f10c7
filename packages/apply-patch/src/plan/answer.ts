import { MAX_TOLD_PROBLEMS } from "../limits.js";
import type { PatchProblem } from "../patch.js";
import { quoteLine } from "../quote.js";
import type { FileChange, Planned } from "./plan.js";

/** What a model reads when a patch was applied. */
export function renderSuccess(changes: readonly FileChange[], seconds: number): string {
  const names = (kind: FileChange["kind"], letter: string) =>
    changes
      .filter((change) => change.kind === kind)
      .map(({ shownPath, shownMoveTo }) => `${letter} ${shownMoveTo ?? shownPath}`);
  const lines = [...names("add", "A"), ...names("update", "M"), ...names("delete", "D")];
  return renderRun(0, seconds, ["Success. Updated the following files:", ...lines].join("\n"));
}

/** What a model reads when a patch was begun and not finished; `text` says what is true of each file. */
export const renderFailure = (text: string, seconds: number): string => renderRun(1, seconds, text);

const renderRun = (exitCode: number, seconds: number, text: string): string =>
  `Exit code: ${exitCode}\nWall time: ${Number(seconds.toFixed(1))} seconds\nOutput:\n${text}\n`;

/** What a model reads when a patch cannot be parsed. */
export const renderProblem = ({ message }: PatchProblem): string => `${FAILED}${message}\n${UNTOUCHED}`;

/** What a model reads when a patch does not fit the files. */
export function renderProblems({ problems, applied }: Extract<Planned, { ok: false }>): string {
  const told = problems.slice(0, MAX_TOLD_PROBLEMS).map(({ message }) => message);
  const more = problems.length - told.length;
  const rest = more > 0 ? [`… and ${more} more problems`] : [];
  const done = applied.length === 0 ? [] : [describeApplied(applied)];
  return `${FAILED}${[...told, ...rest, ...done, UNTOUCHED].join("\n")}`;
}

function describeApplied(applied: readonly string[]): string {
  const named = applied.map((path) => `'${quoteLine(path)}'`).join(", ");
  return `Already as this patch leaves them: ${named}. If an earlier try got that far, send the rest alone.`;
}

const FAILED = "apply_patch verification failed: ";
const UNTOUCHED = "Nothing was changed.";
