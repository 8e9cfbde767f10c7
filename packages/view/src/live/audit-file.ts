import { stat } from "node:fs/promises";
import { parseRecord, readAuditLines, verifyAuditFiles } from "@codex/audit";
import { messageOf } from "@codex/telemetry";
import { MAX_ENTITIES } from "../limits.js";
import type { ChainState, RecordEntity } from "../wire/entities.js";

/** The newest records of an audit log, and the state of its chain. */
export interface ShownAudit {
  readonly records: readonly RecordEntity[];
  readonly chain: ChainState;
}

const ENVELOPE: ReadonlySet<string> = new Set(["v", "seq", "time", "prev", "type"]);

/** Reads a log. Never rejects. */
export async function readAudit(file: string): Promise<ShownAudit> {
  try {
    const records: RecordEntity[] = [];
    for await (const { text } of readAuditLines(file)) {
      const record = parseRecord(text);
      if (record === undefined) continue;
      const { seq, time, type } = record;
      const rest = Object.fromEntries(Object.entries(record).filter(([name]) => !ENVELOPE.has(name)));
      records.push({ kind: "record", id: seq, at: String(time), type: String(type), text: JSON.stringify(rest) });
      if (records.length > 2 * MAX_ENTITIES.record) records.splice(0, MAX_ENTITIES.record);
    }
    return { records: records.slice(-MAX_ENTITIES.record), chain: await readChain(file) };
  } catch (error) {
    return { records: [], chain: { state: "unreadable", text: messageOf(error) } };
  }
}

async function readChain(file: string): Promise<ChainState> {
  const { check } = await verifyAuditFiles(file);
  if (check.kind === "broken") return { state: "broken", text: `line ${check.line}: ${check.reason}` };
  const lost = check.lost === 0 ? "" : `, ${check.lost} could not be written`;
  return { state: "intact", text: `${check.records} records${lost}` };
}

/** Size and modification time of a file, to detect changes; undefined if there is no file. */
export async function markOf(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found === undefined ? undefined : `${found.size} ${found.mtimeMs}`;
}
