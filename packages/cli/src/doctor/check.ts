import { messageOf } from "@codex/values";
import { CHECK_MS } from "./limits.js";

/** Result of a check: a `problem` keeps commands from running properly, a `warning` does not. */
export type Finding =
  | { status: "ok"; detail: string }
  | { status: "warning" | "problem"; detail: string /** How to fix it. */; fix: string };

/** A check of the host. */
export interface Check {
  name: string;
  /** May throw or never settle: both become problems. `signal` aborts at the deadline, after 20 s. */
  run(signal: AbortSignal): Finding | Promise<Finding>;
}

/** A finding and the name of its check. */
export type Row = Finding & { name: string };

export const ok = (detail: string): Finding => ({ status: "ok", detail });
export const warning = (detail: string, fix: string): Finding => ({ status: "warning", detail, fix });
export const problem = (detail: string, fix: string): Finding => ({ status: "problem", detail, fix });

/** Runs checks one after the other, because some measure time and they share resources. Never rejects. */
export async function runChecks(checks: readonly Check[], deadlineMs = CHECK_MS): Promise<Row[]> {
  const rows: Row[] = [];
  for (const check of checks) rows.push({ name: check.name, ...(await runCheck(check, deadlineMs)) });
  return rows;
}

async function runCheck(check: Check, deadlineMs: number): Promise<Finding> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      abort.abort();
      resolve(
        problem(`no result within ${deadlineMs} ms`, "find out what hangs on this host, and run `codex doctor` again"),
      );
    }, deadlineMs);
  });
  try {
    return await Promise.race([(async () => check.run(abort.signal))(), timeout]);
  } catch (error) {
    const detail = messageOf(error);
    return problem(`could not be checked: ${detail}`, "fix what the message names, and run `codex doctor` again");
  } finally {
    clearTimeout(timer);
  }
}
