import type { RecordedOutput } from "@codex/executor-protocol";
import { createCastEncoder, describeGap } from "@codex/recording";
import { MAX_RECORDING_BYTES } from "../limits.js";
import type { SessionRead } from "./session-reader.js";
import type { ShownSession } from "./sessions.js";

interface CastEvent {
  /** Milliseconds since the session began. */
  readonly at: number;
  encode(at: number): string;
}

/** The recording of a session so far, as asciicast, with a marker for each call. */
export async function recordSession(
  session: ShownSession,
  read: (from: number, signal: AbortSignal) => Promise<SessionRead>,
  signal: AbortSignal,
): Promise<string> {
  const encoder = createCastEncoder();
  const { entity, feed, calls } = session;
  const events: CastEvent[] = [];
  let size = entity.size;
  let end: { exitCode: number | undefined; at: number } | undefined;
  let from = 0;
  while (from < MAX_RECORDING_BYTES) {
    const found = await read(from, signal);
    if (found.kind !== "output") break;
    const { output } = found;
    size ??= output.size;
    events.push(...eventsOf(output, encoder));
    if (output.closed) end = { exitCode: output.exitCode, at: output.exitedAt ?? 0 };
    if (output.range.to === from) break;
    from = output.range.to;
  }
  // The executor no longer has a session whose output was delivered completely.
  if (from === 0) {
    let expected = 0;
    for (const { offset, bytes, at } of feed.kept.timed) {
      const stream = entity.tty ? "pty" : "stdout";
      const gap = describeGap({ from: expected, to: offset });
      if (offset > expected) events.push({ at: at - entity.startedAt, encode: (now) => encoder.marker(gap, now) });
      expected = offset + bytes.length;
      events.push({ at: at - entity.startedAt, encode: (now) => encoder.output(stream, bytes, now) });
    }
    end = { exitCode: entity.exitCode, at: (entity.endedAt ?? entity.startedAt) - entity.startedAt };
  }
  const { startedAt, command } = entity;
  for (const { at, label } of calls) events.push({ at: at - startedAt, encode: (now) => encoder.marker(label, now) });
  const header = encoder.header({ size: size ?? { rows: 24, cols: 80 }, startedAt, command });
  const lines = events.sort((one, other) => one.at - other.at).map(({ at, encode }) => encode(Math.max(0, at)));
  const last = end === undefined ? "" : encoder.end(end.exitCode, Math.max(0, end.at));
  return header + lines.join("") + last;
}

function eventsOf(
  { chunks, gone, resizes }: RecordedOutput,
  encoder: ReturnType<typeof createCastEncoder>,
): CastEvent[] {
  let at = 0;
  const lost = gone.map((range) => ({
    at: chunks.find(({ offset }) => offset >= range.to)?.at ?? at,
    encode: (now: number) => encoder.marker(describeGap(range), now),
  }));
  const pieces = chunks.map(({ stream, data, at: read }) => {
    at = read;
    return { at: read, encode: (now: number) => encoder.output(stream, Buffer.from(data, "base64"), now) };
  });
  return [
    ...lost,
    ...resizes.map(({ size, at: changed }) => ({ at: changed, encode: (now: number) => encoder.resize(size, now) })),
    ...pieces,
  ];
}
