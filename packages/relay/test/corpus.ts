import { readFileSync } from "node:fs";

/** One frame of a recorded session; `payload` and `raw` are hex. */
interface RecordedFrame {
  dir: "in" | "out";
  type: "resume" | "handshake" | "data" | "reset";
  seq?: number;
  payload?: string;
  raw: string;
}

interface RecordedSecrets {
  x25519: string;
  mlkem768Seed: string;
}

/** A change that must be refused, as the rules of the file say. */
export interface RecordedRefusal {
  name: string;
  at: "handshake" | "transport";
  set?: Record<string, unknown>;
  flip?: [path: string, byte: number, bit: number];
  keep?: [path: string, bytes: number];
  append?: [path: string, hex: string];
  copy?: [from: string, to: string];
  swap?: [one: string, other: string];
  receivedAtMost?: number;
}

/** A session with Codex 0.169.0; `rules` of the file's first entry describe the members. */
export interface RecordedSession {
  name: string;
  role: "initiator" | "responder";
  protocolName?: string;
  environmentId: string;
  registrationId: string;
  streamId: string;
  keys: { static: RecordedSecrets; ephemeral: RecordedSecrets };
  encapsulation: { ekem?: string; skem: string };
  peer: { static: { x25519: string; mlkem768: string } };
  payload: string;
  message1: string;
  message2: string;
  hash1: string;
  handshakeHash: string;
  keysSplit: [string, string];
  frames: RecordedFrame[];
  sent: string[];
  received: string[];
  refusals: RecordedRefusal[];
}

/** The recorded sessions. */
export function readSessions(): RecordedSession[] {
  const text = readFileSync(new URL("corpus/noise.json", import.meta.url), "utf8");
  // The file's own shape, which a test would notice to be another.
  return (JSON.parse(text) as [unknown, ...RecordedSession[]]).slice(1) as RecordedSession[];
}

export const fromHex = (hex: string): Buffer => Buffer.from(hex, "hex");

/** The session with the change of a refusal in it. */
export function withChange(session: RecordedSession, refusal: RecordedRefusal): RecordedSession {
  const changed = structuredClone(session);
  const { set = {}, flip, keep, append, copy, swap } = refusal;
  for (const [path, value] of Object.entries(set)) write(changed, path, value);
  if (flip !== undefined) {
    const [path, at, bit] = flip;
    const bytes = fromHex(read(changed, path));
    const index = at < 0 ? bytes.length + at : at;
    bytes[index] = bytes[index]! ^ (1 << bit);
    write(changed, path, bytes.toString("hex"));
  }
  if (keep !== undefined) write(changed, keep[0], read(changed, keep[0]).slice(0, keep[1] * 2));
  if (append !== undefined) write(changed, append[0], read(changed, append[0]) + append[1]);
  if (copy !== undefined) write(changed, copy[1], read(changed, copy[0]));
  if (swap !== undefined) {
    const [one, other] = [read(changed, swap[0]), read(changed, swap[1])];
    write(changed, swap[0], other);
    write(changed, swap[1], one);
  }
  return changed;
}

type Node = Record<string, unknown>;

function find(root: RecordedSession, path: string): { parent: Node; name: string } {
  const names = path.split(".");
  const name = names.pop()!;
  // Paths of the file lead through objects and arrays only.
  const parent = names.reduce((node, each) => node[each] as Node, root as unknown as Node);
  return { parent, name };
}

function read(root: RecordedSession, path: string): string {
  const { parent, name } = find(root, path);
  return String(parent[name]);
}

function write(root: RecordedSession, path: string, value: unknown): void {
  const { parent, name } = find(root, path);
  parent[name] = value;
}
