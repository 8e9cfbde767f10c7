import { createHash } from "node:crypto";
import type { AuditEvent } from "./event.js";
import { MAX_AUDIT_RECORD_BYTES } from "./limits.js";

/** The last record of a chain. */
export interface ChainHead {
  /** Counts from 1. */
  readonly seq: number;
  /** SHA-256 of the record's line without its end; hex. */
  readonly hash: string;
}

/** The head of an empty chain. */
export const GENESIS: ChainHead = { seq: 0, hash: "0".repeat(64) };

/** An event and its time, milliseconds since 1970. */
export interface TimedEvent {
  readonly at: number;
  readonly event: AuditEvent;
}

/** The common members of all records; the event's own members follow. */
export interface AuditRecord {
  v: 1;
  seq: number;
  /** ISO 8601, UTC. */
  time: string;
  /** The hash of the previous record. */
  prev: string;
  type: AuditEvent["type"];
  [member: string]: unknown;
}

/** SHA-256 of `data` (text as UTF-8), in lower-case hex. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** The lines of these events after `head`, each with its line end, and the new head. Pure. */
export function encodeRecords(head: ChainHead, events: readonly TimedEvent[]): { text: string; head: ChainHead } {
  let text = "";
  let last = head;
  for (const { at, event } of events) {
    const record = { v: 1, seq: last.seq + 1, time: new Date(at).toISOString(), prev: last.hash };
    let line = JSON.stringify({ ...record, ...event });
    if (Buffer.byteLength(line) > MAX_AUDIT_RECORD_BYTES)
      line = JSON.stringify({ ...record, ...withoutDetails(event) });
    last = { seq: record.seq, hash: sha256(line) };
    text += `${line}\n`;
  }
  return { text, head: last };
}

/** The event without its members of unbounded size. */
function withoutDetails(event: AuditEvent): AuditEvent {
  if (event.type !== "call") return event;
  const { argv: _argv, rules: _rules, ...rest } = event;
  return { ...rest, cut: true };
}

/** Parses a line; undefined when it is not a record. Does not check its place in the chain. */
export function parseRecord(line: string): AuditRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is AuditRecord {
  if (typeof value !== "object" || value === null) return false;
  const { v, seq, prev, type, time } = value as Partial<Record<string, unknown>>;
  return (
    v === 1 &&
    Number.isSafeInteger(seq) &&
    typeof type === "string" &&
    typeof time === "string" &&
    typeof prev === "string" &&
    /^[0-9a-f]{64}$/.test(prev)
  );
}
