import { stat } from "node:fs/promises";
import { AuditFollower, type AuditRecord, type FollowedAudit, verifyAuditFiles } from "@codex/audit";
import { messageOf } from "@codex/values";
import { MAX_ENTITIES } from "../limits.js";
import type { ChainState, RecordEntity } from "../wire/entities.js";

/** The newest records of an audit log, or those added since the last read, and the state of their chain. */
export interface ShownAudit {
  readonly records: readonly RecordEntity[];
  readonly chain: ChainState;
}

const ENVELOPE: ReadonlySet<string> = new Set(["v", "seq", "time", "prev", "type"]);

/** Reads a log, or what was added to it since `follower` read it last. Never rejects. */
export async function readAudit(file: string, follower: AuditFollower = new AuditFollower(file)): Promise<ShownAudit> {
  try {
    const { records, check } = await follower.read();
    return { records: records.slice(-MAX_ENTITIES.record).map(toEntity), chain: describeChain(check) };
  } catch (error) {
    return { records: [], chain: { state: "unreadable", text: messageOf(error) } };
  }
}

/** Verifies the whole chain of a log, with its rotated files. Never rejects. */
export async function verifyAudit(file: string): Promise<ChainState> {
  try {
    const { check } = await verifyAuditFiles(file);
    return check.kind === "broken"
      ? { state: "broken", text: `line ${check.line}: ${check.reason}` }
      : { state: "intact", text: `${check.records} records${describeLost(check.lost)}` };
  } catch (error) {
    return { state: "unreadable", text: messageOf(error) };
  }
}

const describeLost = (lost: number): string => (lost === 0 ? "" : `, ${lost} could not be written`);

function toEntity(record: AuditRecord): RecordEntity {
  const { seq, time, type } = record;
  const rest = Object.fromEntries(Object.entries(record).filter(([name]) => !ENVELOPE.has(name)));
  return { kind: "record", id: seq, at: String(time), type: String(type), text: JSON.stringify(rest) };
}

function describeChain(check: FollowedAudit["check"]): ChainState {
  if (check.kind === "broken") return { state: "broken", text: check.reason };
  const first = check.head.seq - check.records + 1;
  const before = first <= 1 ? "" : `; those before record ${first} are verified by \`codex audit verify\``;
  return { state: "intact", text: `${check.head.seq} records${describeLost(check.lost)}${before}` };
}

/** Size and modification time of a file, to detect changes; undefined if there is no file. */
export async function markOf(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found === undefined ? undefined : `${found.size} ${found.mtimeMs}`;
}
