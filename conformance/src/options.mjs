import { parseArgs } from "node:util";

export const USAGE = `Usage: pnpm conformance --server COMMAND|ws://HOST:PORT [options]

Replays recorded exchanges against an exec-server and tells where it differs.

  --server TEXT       a command, started anew for each case, or the address of a server that runs on this host.
                      \`{listen}\` in a command becomes ws://127.0.0.1:0 or stdio; without it \`--listen …\` is appended.
                      A websocket server prints its ws:// address as a line on stdout
  --cases FILE        another file of cases; may be repeated
  --filter TEXT       only cases whose name contains TEXT
  --extensions        cases of what this project adds to the protocol as well
  --stdio             every case over stdio; those that need a socket are skipped
  --jobs COUNT        cases at a time, 1 to 64 (default 4)
  --timeout-ms COUNT  milliseconds a case may take (default 15000)
  --settle-ms COUNT   milliseconds a message may take after the last step (default 2000)
  --json              one JSON document instead of the table
  --help

Exit codes: 0 nothing failed, 1 a case failed, 2 bad arguments.`;

/** A mistake in the command line; the message is complete. */
export class UsageError extends Error {}

/**
 * @param {string[]} args
 * @returns {{
 *   help: boolean, server: string, cases: string[], filter: string, extensions: boolean, stdio: boolean,
 *   jobs: number, timeoutMs: number, settleMs: number, json: boolean
 * }}
 * @throws UsageError
 */
export function parseOptions(args) {
  const { values } = parse(args);
  const help = values.help ?? false;
  if (!help && !values.server?.trim()) throw new UsageError("--server is missing: a command or a ws:// address");
  return {
    help,
    server: values.server?.trim() ?? "",
    cases: values.cases ?? [],
    filter: values.filter ?? "",
    extensions: values.extensions ?? false,
    stdio: values.stdio ?? false,
    jobs: toCount("--jobs", values.jobs ?? "4", 64),
    timeoutMs: toCount("--timeout-ms", values["timeout-ms"] ?? "15000", 600_000),
    settleMs: toCount("--settle-ms", values["settle-ms"] ?? "2000", 600_000),
    json: values.json ?? false,
  };
}

function parse(args) {
  const text = { type: "string" };
  const flag = { type: "boolean" };
  const options = {
    server: text,
    cases: { type: "string", multiple: true },
    filter: text,
    jobs: text,
    "timeout-ms": text,
    "settle-ms": text,
    extensions: flag,
    stdio: flag,
    json: flag,
    help: flag,
  };
  try {
    // pnpm passes \`--\` through.
    return parseArgs({ args: args[0] === "--" ? args.slice(1) : args, options });
  } catch (cause) {
    throw new UsageError(cause.message, { cause });
  }
}

function toCount(name, text, max) {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new UsageError(`${name} is \`${text}\`: expected a number from 1 to ${max}`);
}
