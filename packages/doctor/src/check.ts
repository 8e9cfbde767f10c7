import { messageOf } from "@codex/telemetry";
import { CHECK_MS } from "./limits.js";

/** Result of a check: a `warning` is a cost, a `problem` keeps commands from running properly. */
export type Finding =
  | { status: "ok"; detail: string }
  | { status: "warning" | "problem"; detail: string /** What to do about it. */; fix: string };

/** One thing that is looked at; `run` may throw, which is a problem, and has 20 s. */
export interface Check {
  name: string;
  /** May throw or never settle: both become findings. `signal` aborts at the deadline. */
  run(signal: AbortSignal): Finding | Promise<Finding>;
}

/** What a check found. */
export type Row = Finding & { name: string };

export const ok = (detail: string): Finding => ({ status: "ok", detail });
export const warning = (detail: string, fix: string): Finding => ({ status: "warning", detail, fix });
export const problem = (detail: string, fix: string): Finding => ({ status: "problem", detail, fix });

/** Runs checks sequentially, because they measure times and share resources. Never rejects. */
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
        problem(`no result within ${deadlineMs} ms`, "find out what hangs on this host, and run `codex doctor` again"),
      );
    }, deadlineMs);
  });
  try {
    return await Promise.race([(async () => check.run(abort.signal))(), late]);
  } catch (error) {
    const detail = messageOf(error);
    return problem(`could not be checked: ${detail}`, "fix what the message names, and run `codex doctor` again");
  } finally {
    clearTimeout(timer);
  }
}
