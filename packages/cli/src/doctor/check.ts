import { CHECK_MS } from "./limits.js";

/** What a check found. A `warning` costs something, a `problem` keeps commands from running as they should. */
export type Finding =
  | { status: "ok"; detail: string }
  | { status: "warning" | "problem"; detail: string /** What to do about it. */; fix: string };

export interface Check {
  name: string;
  /** May throw, and may never end: both are findings. `signal` aborts at the deadline. */
  run(signal: AbortSignal): Finding | Promise<Finding>;
}

export type Row = Finding & { name: string };

export const ok = (detail: string): Finding => ({ status: "ok", detail });
export const warning = (detail: string, fix: string): Finding => ({ status: "warning", detail, fix });
export const problem = (detail: string, fix: string): Finding => ({ status: "problem", detail, fix });

/** One after the other: they measure times, and some use what others look at. Never rejects. */
export async function runChecks(checks: readonly Check[], deadlineMs = CHECK_MS): Promise<Row[]> {
  const rows: Row[] = [];
  for (const check of checks) rows.push({ name: check.name, ...(await runCheck(check, deadlineMs)) });
  return rows;
}

async function runCheck(check: Check, deadlineMs: number): Promise<Finding> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      abort.abort();
      resolve(
        problem(`no result within ${deadlineMs} ms`, "see what on this host hangs, and run `codex doctor` again"),
      );
    }, deadlineMs);
  });
  try {
    return await Promise.race([(async () => check.run(abort.signal))(), late]);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return problem(`could not be checked: ${detail}`, "mend what the message names, and run `codex doctor` again");
  } finally {
    clearTimeout(timer);
  }
}
