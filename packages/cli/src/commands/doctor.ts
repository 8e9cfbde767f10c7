import { visible } from "@codex/agent-terminal/text";
import { VERSION } from "@codex/servers";
import { messageOf } from "@codex/values";
import { type Check, type Row, runChecks } from "../doctor/check.js";
import { CHECKS } from "../doctor/checks.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { print } from "../notice.js";

/** Checks the requirements of commands on this host, and suggests fixes. Exit code 1 for a problem. */
export async function runDoctor({ json, service }: { json: boolean; service?: string }): Promise<void> {
  const rows = await runChecks(service === undefined ? CHECKS : await readServiceChecks(service));
  const problems = rows.filter(({ status }) => status === "problem").length;
  if (problems > 0) process.exitCode = EXIT.failure;
  const told = json
    ? `${JSON.stringify({ version: VERSION, ok: problems === 0, checks: rows }, null, 2)}\n`
    : render(rows);
  print(told);
}

/** @throws CommandError for a unit file that cannot be used */
async function readServiceChecks(path: string): Promise<readonly Check[]> {
  const { serviceChecks } = await import("../doctor/service.js");
  try {
    return serviceChecks(path);
  } catch (cause) {
    throw new CommandError(`--service: ${messageOf(cause)}`, EXIT.usage, { cause });
  }
}

function render(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.flatMap((row) => [
    visible(`${row.status.padEnd(7)}  ${row.name.padEnd(width)}  ${row.detail}`),
    ...(row.status === "ok" ? [] : [visible(`${" ".repeat(9 + width + 2)}→ ${row.fix}`)]),
  ]);
  const count = (status: Row["status"]) => rows.filter((row) => row.status === status).length;
  const named = (status: Row["status"]) => `${count(status)} ${status}${count(status) === 1 ? "" : "s"}`;
  return `${lines.join("\n")}\n\n${count("ok")} ok, ${named("warning")}, ${named("problem")}\n`;
}
