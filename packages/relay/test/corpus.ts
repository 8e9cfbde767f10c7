import { readFileSync } from "node:fs";

/** One frame of a recorded session; `payload` and `raw` are hex. */
interface RecordedFrame {
  dir: "in" | "out";
  type: "resume" | "handshake" | "data" | "reset";
  seq?: number;
  payload?: string;
  raw: string;
}

/** A session with Codex 0.169.0; `rules` of the file's first entry describe the members. */
export interface RecordedSession {
  name: string;
  role: "initiator" | "responder";
  streamId: string;
  frames: RecordedFrame[];
}

/** The recorded sessions. */
export function readSessions(): RecordedSession[] {
  const text = readFileSync(new URL("corpus/noise.json", import.meta.url), "utf8");
  // The file's own shape, which a test would notice to be another.
  return (JSON.parse(text) as [unknown, ...RecordedSession[]]).slice(1) as RecordedSession[];
}

export const fromHex = (hex: string): Buffer => Buffer.from(hex, "hex");
