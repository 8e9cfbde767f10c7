import { stat } from "node:fs/promises";
import { visible } from "@codex/agent-terminal/text";
import {
  type AuditRecord,
  type ChainHead,
  listAuditFiles,
  parseRecord,
  readAuditLines,
  verifyAuditFiles,
} from "@codex/audit";
import type { ConfigFlags } from "@codex/config";
import { CommandError, EXIT } from "../exit-codes.js";
import { written } from "../foreground/standard-output.js";
import { print, printJson, say } from "../notice.js";
import { openConfig } from "../open-config.js";

export interface VerifyOptions extends ConfigFlags {
  expect?: string;
  json: boolean;
}

/** Verifies the hash chain of an audit log; exit code 1 if it is broken. */
export async function runAuditVerify(file: string | undefined, options: VerifyOptions): Promise<void> {
  const path = await findLog(file, options);
  const { check, file: at, files } = await verifyAuditFiles(path, parseHead(options.expect));
  if (check.kind === "broken") process.exitCode = EXIT.failure;
  if (options.json) return void printJson({ ...check, file: at, files }, 0);
  if (check.kind === "broken") return void print(visible(`broken: ${at}:${check.line}: ${check.reason}\n`));
  const { records, head, torn, lost } = check;
  const notes = [
    ...(torn === 0 ? [] : [`${torn} cut short and marked`]),
    ...(lost === 0 ? [] : [`${lost} could not be written and are missing`]),
  ];
  const rest = notes.length === 0 ? "" : `; ${notes.join("; ")}`;
  print(`intact: ${records} records, the last is ${head.seq}:${head.hash}${rest}\n`);
}

/** Prints an audit log, oldest record first. */
export async function runAuditShow(file: string | undefined, options: ConfigFlags & { json: boolean }): Promise<void> {
  // As in `codex audit show | head`.
  let isGone = false;
  process.stdout.on("error", () => {
    isGone = true;
  });
  for (const one of await listAuditFiles(await findLog(file, options))) {
    for await (const { text } of readAuditLines(one)) {
      const record = parseRecord(text);
      const line = options.json && record !== undefined ? text : render(record);
      if (!print(`${line}\n`)) await written(process.stdout);
      if (isGone) return;
    }
  }
}

async function findLog(file: string | undefined, options: ConfigFlags): Promise<string> {
  const settings = file === undefined ? (await openConfig(options)).settings.audit : undefined;
  const path = file ?? settings?.path ?? "";
  const isOff = settings !== undefined && !settings.enabled && !settings.required;
  const found = await stat(path).catch((error: unknown) => error as Error);
  if (isOff && found instanceof Error) throw new CommandError("audit is off: nothing is recorded (see audit.enabled)");
  if (isOff) say(`audit is off: ${path} is what was recorded before`);
  if (found instanceof Error) throw new CommandError(`audit log ${path}: ${found.message}`);
  if (found.isDirectory()) throw new CommandError(`audit log ${path}: it is a directory`);
  return path;
}

function parseHead(text: string | undefined): ChainHead | undefined {
  if (text === undefined) return undefined;
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw new CommandError(
    `--expect ${JSON.stringify(text)}: expected NUMBER:SHA-256, as \`codex audit verify\` prints it`,
    EXIT.usage,
  );
}

const ENVELOPE = new Set(["v", "seq", "time", "prev", "type"]);

function render(record: AuditRecord | undefined): string {
  if (record === undefined) return "-        (no record)";
  const details = Object.entries(record)
    .filter(([name]) => !ENVELOPE.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return visible(`${String(record.seq).padEnd(8)} ${record.time} ${record.type.padEnd(8)} ${details.join(" ")}`);
}
