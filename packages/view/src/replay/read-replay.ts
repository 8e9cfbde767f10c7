import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { createThreadStore } from "@codex/agent/node";
import { readPlainFile } from "@codex/plain-file";
import { messageOf } from "@codex/values";
import { MAX_REPLAY_BYTES } from "../limits.js";
import { readAudit, verifyAudit } from "../live/audit-file.js";
import type { Entity } from "../wire/entities.js";
import { readThread } from "./read-thread.js";

/** Content to replay. */
export interface Replay {
  readonly kind: "recording" | "audit" | "thread";
  readonly entities: readonly Entity[];
  /** Recordings as asciicast, by the `id` of their entity. */
  readonly recordings: ReadonlyMap<number, string>;
}

/**
 * Reads a recording (asciicast), an audit log or a thread; the first line tells which.
 * @param file a file, or the id of a thread
 * @param home the Codex home directory, which contains the threads
 * @throws Error naming the file and what is wrong with it
 */
export async function readReplay(file: string, home: string): Promise<Replay> {
  const found = await stat(file).catch(() => undefined);
  const path = found === undefined ? await findThread(file, home) : file;
  const info = await stat(path);
  if (info.isDirectory()) throw new Error(`${path} is a directory; expected a recording, an audit log or a thread`);
  const bytes = await readPlainFile(path, { maxBytes: MAX_REPLAY_BYTES }).catch((cause: unknown) => {
    throw new Error(`${path}: ${messageOf(cause)}`, { cause });
  });
  const text = bytes.toString();
  const first = parseLine(text.slice(0, text.indexOf("\n") === -1 ? undefined : text.indexOf("\n")));
  if (isRecord(first) && (first.version === 2 || first.version === 3)) {
    const entity = { kind: "recording", id: 1, name: basename(path) } as const;
    return { kind: "recording", entities: [entity], recordings: new Map([[1, text]]) };
  }
  if (isRecord(first) && first.v === 1 && typeof first.seq === "number") {
    const { records } = await readAudit(path);
    const chain = await verifyAudit(path);
    const thread = { kind: "thread", id: "thread", state: "none", chain } as const;
    return { kind: "audit", entities: [thread, ...records], recordings: new Map() };
  }
  if (isRecord(first) && typeof first.type === "string" && "payload" in first) {
    return { kind: "thread", entities: readThread(text.split("\n").map(parseLine)), recordings: new Map() };
  }
  throw new Error(`${path} is no recording (asciicast 2 or 3), no audit log and no thread`);
}

async function findThread(id: string, home: string): Promise<string> {
  try {
    return (await createThreadStore({ home, version: "" }).find(id)).path;
  } catch (cause) {
    const where = /[/.]/.test(id) ? `there is no file ${id}` : messageOf(cause);
    throw new Error(where, { cause });
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
